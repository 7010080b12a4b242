#ifndef EPSLEDGER_CLIENT_CLI_FAILURE_TEXT_H_
#define EPSLEDGER_CLIENT_CLI_FAILURE_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "client/cli/exit_code.h"

namespace epsledger::cli {

// Returns one sentence: what failed, and what to do about it. `server` is the address that was
// called.
std::string FailureText(const absl::Status& status, CallKind kind, const std::string& server);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FAILURE_TEXT_H_
