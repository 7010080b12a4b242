#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_NON_PRIVATE_ACCESS_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_NON_PRIVATE_ACCESS_H_

#include <string>

#include "absl/status/status.h"
#include "epsledger/session.h"

namespace epsledger::trainers {

// Charges one {"nonPrivate": {"reason": ...}} event and waits until the ledger has recorded it.
// From then on every epsilon of the session and its budgets is infinite. Private records may be
// read without noise only after OK. FAILED_PRECONDITION if a cap refuses the event, as every cap
// with a finite epsilon does; other codes as Session::Charge. `reason`: up to 256 bytes of text.
absl::Status ChargeNonPrivateAccess(Session& session, const std::string& reason);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_NON_PRIVATE_ACCESS_H_
