#ifndef EPSLEDGER_SERVER_OIDC_JWT_H_
#define EPSLEDGER_SERVER_OIDC_JWT_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace epsledger::oidc {

// Longer tokens are refused unread. Tokens with many groups come to 4 kB.
inline constexpr size_t kMaxJwtBytes = 12 << 10;
// By which the issuer's clock and this one may differ.
inline constexpr absl::Duration kClockSkew = absl::Seconds(60);
// Nobody can revoke a JWT: it ends by itself, within a day.
inline constexpr absl::Duration kMaxJwtLife = absl::Hours(24);

// A JSON web token (RFC 7519) in compact form, taken apart. Nothing of it is believed yet.
struct Jwt {
  std::string algorithm;
  std::string kid;
  nlohmann::json claims;
};

// UNAUTHENTICATED for what is not three parts of base64url, the first two JSON objects without a
// key twice; for a header without "alg" and "kid", with another "typ" than JWT or at+jwt, or with
// "crit", which asks for what this server does not know (RFC 7515, 4.1.11).
absl::StatusOr<Jwt> ParseJwt(std::string_view compact);

// OK if the claims are of `issuer`, for `audience`, and for now: "iss" is equal, "aud" is or holds
// it, "exp" is there, not over and at most kMaxJwtLife away, "nbf" and "iat", if they are there,
// are not ahead; all within kClockSkew. UNAUTHENTICATED names the claim otherwise.
absl::Status CheckClaims(const nlohmann::json& claims, const std::string& issuer,
                         const std::string& audience, absl::Time now);

// Until when CheckClaims says OK. REQUIRES: it does.
absl::Time EndOf(const nlohmann::json& claims);

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_JWT_H_
