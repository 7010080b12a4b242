#ifndef EPSLEDGER_CLIENT_CLI_STATEMENT_CHECK_H_
#define EPSLEDGER_CLIENT_CLI_STATEMENT_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "epsledger/v1/audit.pb.h"

namespace epsledger::cli {

// OK if the owner of `public_key` (32 bytes, Ed25519) signed the statement, and every part of it is
// what was signed: its text, its HTML and its head too. DATA_LOSS says which part is not;
// INVALID_ARGUMENT for a key that is none.
absl::Status CheckStatement(const v1::PrivacyStatement& statement, const std::string& public_key);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_STATEMENT_CHECK_H_
