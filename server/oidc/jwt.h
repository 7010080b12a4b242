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
// The maximum difference between the issuer's clock and this one.
inline constexpr absl::Duration kClockSkew = absl::Seconds(60);
// Nobody can revoke a JWT, so it must expire within a day.
inline constexpr absl::Duration kMaxJwtLife = absl::Hours(24);

// A parsed JSON web token (RFC 7519) in compact form. Nothing in it is verified yet.
struct Jwt {
  std::string algorithm;
  std::string kid;
  nlohmann::json claims;
};

// Parses a token. UNAUTHENTICATED unless it is three parts of base64url, the first two JSON objects
// without a repeated key; and for a header without "alg" and "kid", with another "typ" than JWT or
// at+jwt, or with "crit", which demands extensions that this server does not have (RFC 7515,
// 4.1.11).
absl::StatusOr<Jwt> ParseJwt(std::string_view compact);

// Returns OK if the claims are from `issuer`, for `audience`, and valid at `now`: "iss" is equal,
// "aud" is or contains the audience, "exp" exists, is not past and at most kMaxJwtLife away, and
// "nbf" and "iat", if they exist, are not in the future; all within kClockSkew. Otherwise
// UNAUTHENTICATED names the claim.
absl::Status CheckClaims(const nlohmann::json& claims, const std::string& issuer,
                         const std::string& audience, absl::Time now);

// Returns the time until which CheckClaims returns OK. REQUIRES: CheckClaims returned OK.
absl::Time EndOf(const nlohmann::json& claims);

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_JWT_H_
