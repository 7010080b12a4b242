#include "client/trainers/run/non_private_access.h"

#include "epsledger/mechanism.h"

namespace epsledger::trainers {

absl::Status ChargeNonPrivateAccess(Session& session, const std::string& reason) {
  // The permit stays unused: it is for noise, and there is none here.
  return session.Charge(Mechanism::NonPrivate(reason)).status();
}

}  // namespace epsledger::trainers
