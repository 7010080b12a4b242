#ifndef EPSLEDGER_CLIENT_CLI_EXIT_CODE_H_
#define EPSLEDGER_CLIENT_CLI_EXIT_CODE_H_

#include <string_view>

#include "absl/status/status.h"

namespace epsledger::cli {

// The exit codes that scripts can rely on; kExitCodeHelp says the same in --help.
enum class ExitCode {
  kOk = 0,              // done; for a charge: accepted
  kFailed = 1,          // the server failed, or no answer, or no yes; compute: some line failed
  kUsage = 2,           // the command line, or a value in it, is wrong
  kRefused = 3,         // a budget, a plan or a newer attempt refused
  kOutcomeUnknown = 4,  // a write may or may not have happened: it counts as done
  kNotFound = 5,
};

inline constexpr std::string_view kExitCodeHelp =
    "Exit codes: 0 done or accepted, 1 failed (compute: some line failed), 2 usage, 3 refused by a "
    "budget, 4 outcome unknown (counts as charged), 5 not found.";

// Whether the call changes something, so that an unknown outcome matters.
enum class CallKind { kRead, kWrite };

// Returns the exit code for a call that ended with `status`.
ExitCode ExitCodeOf(const absl::Status& status, CallKind kind);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_EXIT_CODE_H_
