#ifndef EPSLEDGER_SERVER_ACCESS_IDENTITY_PROVIDER_H_
#define EPSLEDGER_SERVER_ACCESS_IDENTITY_PROVIDER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/caller.h"

namespace epsledger::access {

// Another source of caller identities: the issuer of tokens that this server did not create.
class IdentityProvider {
 public:
  virtual ~IdentityProvider() = default;

  // Returns true if `token` has the form of the issuer's tokens. Does not check whether it is
  // valid.
  virtual bool MayBeOurs(std::string_view token) const = 0;

  // Returns the caller that the token names at `now`. Thread-safe.
  //   UNAUTHENTICATED  the token is not valid; the message says why
  //   UNAVAILABLE      the token cannot be checked now
  virtual absl::StatusOr<Caller> CallerOf(std::string_view token, absl::Time now) = 0;
};

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_IDENTITY_PROVIDER_H_
