#include "client/cli/failure_text.h"

#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/reach/await_server.h"
#include "client/cli/reach/retry_notice.h"
#include "epsledger/refusal.h"

namespace epsledger::cli {

std::string FailureText(const absl::Status& status, CallKind kind, const std::string& server) {
  if (const std::optional<RefusalDetails> refusal = RefusalOf(status); refusal.has_value()) {
    return RefusalText(*refusal);
  }
  const std::string message(status.message());
  if (UnknownCharge(status).has_value()) return message;
  const char* repeat = kind == CallKind::kWrite ? "; then repeat this command as it is" : "";
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      if (IsNothingSent(status)) return message;
      if (IsTlsRefusal(status) && absl::StrContains(message, "ALPN")) {
        return absl::StrCat("no gRPC from ", server, ", which speaks TLS and not HTTP/2, as the ",
                            "HTTP address of a server does (its --http-listen); give its gRPC ",
                            "address (its --listen, usually port 50551) with --server", repeat,
                            ".");
      }
      if (IsTlsRefusal(status)) {
        return absl::StrCat("no TLS with ", server, " (", PlainReason(status), "): want --tls-ca ",
                            "with the authority of its certificate, which names that host", repeat,
                            ".");
      }
      return absl::StrCat("no answer from ", server, " (", PlainReason(status),
                          "): start epsledgerd, or give its address with --server", repeat, ".");
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat("no answer from ", server, " in time (", PlainReason(status),
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
