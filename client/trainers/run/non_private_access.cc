#include "client/trainers/run/non_private_access.h"

#include "epsledger/mechanism.h"

namespace epsledger::trainers {

absl::Status ChargeNonPrivateAccess(Session& session, const std::string& reason) {
  // The permit goes unused: it is for noise, and there is none.
  return session.Charge(Mechanism::NonPrivate(reason)).status();
}

}  // namespace epsledger::trainers
