#ifndef EPSLEDGER_SERVER_ACCESS_IDENTITY_PROVIDER_H_
#define EPSLEDGER_SERVER_ACCESS_IDENTITY_PROVIDER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/caller.h"

namespace epsledger::access {

// Somebody else who says who calls: the issuer of tokens that are not ours.
class IdentityProvider {
 public:
  virtual ~IdentityProvider() = default;

  // True if `token` has the form of the issuer's; whether it is good is not said.
  virtual bool MayBeOurs(std::string_view token) const = 0;

  // Whom the token names at `now`. Thread-safe.
  //   UNAUTHENTICATED  it is not good; says why
  //   UNAVAILABLE      that cannot be told now
  virtual absl::StatusOr<Caller> CallerOf(std::string_view token, absl::Time now) = 0;
};

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_IDENTITY_PROVIDER_H_
