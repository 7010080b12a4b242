#include "client/cli/exit_code.h"

#include "epsledger/refusal.h"

namespace epsledger::cli {

ExitCode ExitCodeOf(const absl::Status& status, CallKind kind) {
  if (status.ok()) return ExitCode::kOk;
  if (UnknownCharge(status).has_value()) return ExitCode::kOutcomeUnknown;
  if (RefusalOf(status).has_value()) return ExitCode::kRefused;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return ExitCode::kUsage;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
      return ExitCode::kRefused;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kUnknown:
      return kind == CallKind::kWrite ? ExitCode::kOutcomeUnknown : ExitCode::kFailed;
    default:
      return ExitCode::kFailed;
  }
}

}  // namespace epsledger::cli
