#include "client/cli/failure_text.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "epsledger/refusal.h"

namespace epsledger::cli {

std::string FailureText(const absl::Status& status, CallKind kind, const std::string& server) {
  if (const std::optional<RefusalDetails> refusal = RefusalOf(status); refusal.has_value()) {
    return RefusalText(*refusal);
  }
  const std::string message(status.message());
  if (UnknownCharge(status).has_value()) return message;
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return absl::StrCat("no answer from ", server, " (", message, "): start epsledgerd, or give ",
                          "its address with --server",
                          kind == CallKind::kWrite ? "; then repeat this command as it is." : ".");
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat("no answer from ", server, " in time (", message,
                          "): raise --timeout, and repeat this command as it is.");
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return absl::StrCat(message,
                          ": check the token (--token-file, EPSLEDGER_TOKEN) or the certificate "
                          "(--tls-cert, --tls-key).");
    case absl::StatusCode::kUnimplemented:
      return absl::StrCat("the server does not support this: ", message);
    default:
      return message;
  }
}

}  // namespace epsledger::cli
