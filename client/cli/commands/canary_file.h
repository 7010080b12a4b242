#ifndef EPSLEDGER_CLIENT_CLI_COMMANDS_CANARY_FILE_H_
#define EPSLEDGER_CLIENT_CLI_COMMANDS_CANARY_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "epsledger/v1/accounting_service.pb.h"

namespace epsledger::cli {

// Parses scores of canaries for `epsctl audit`, one a line: "member,1.5" and "non-member,-0.3",
// with or without a heading, or {"member": true, "score": 1.5}. "inf" and "-inf" are scores. "nan"
// is passed on as NaN, which the audit refuses. INVALID_ARGUMENT names the line.
absl::Status ParseCanaryScores(const std::string& text, v1::AuditCanariesRequest* request);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMANDS_CANARY_FILE_H_
