#ifndef EPSLEDGER_SERVER_TOKEN_TASK_H_
#define EPSLEDGER_SERVER_TOKEN_TASK_H_

#include <ostream>

#include "absl/status/status.h"
#include "server/core/durable_ledger.h"
#include "server/flags.h"

namespace epsledger {

// Runs `epsledgerd token create|list|revoke` durably and writes the answer to `out`. For `create`
// the answer is the secret alone on a line, for `> secret-file`. REQUIRES: `flags` has a task.
absl::Status RunTokenTask(const Flags& flags, core::DurableLedger& ledger, std::ostream& out);

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_TOKEN_TASK_H_
