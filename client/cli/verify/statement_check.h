#ifndef EPSLEDGER_CLIENT_CLI_VERIFY_STATEMENT_CHECK_H_
#define EPSLEDGER_CLIENT_CLI_VERIFY_STATEMENT_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/v1/audit.pb.h"

namespace epsledger::cli {

// OK if the owner of `public_key` (32 bytes, Ed25519) signed the statement, and every part of it is
// what was signed: its text, its HTML and its head too. DATA_LOSS says which part is not;
// INVALID_ARGUMENT for a key that is none.
absl::Status CheckStatement(const v1::PrivacyStatement& statement, const std::string& public_key);

// What a statement is of, as its JSON says.
struct StatementSubject {
  std::string name;  // "budgets/adult" or "budgets/adult/sessions/run-1"
  double delta = 0;
};

// DATA_LOSS if the JSON is no statement's.
absl::StatusOr<StatementSubject> SubjectOf(const v1::PrivacyStatement& statement);

// What has changed in the resource from one statement of it to another, by the members of their
// JSON: "resource", "caps", ...; empty: nothing. When they were made, and how long the ledger was,
// is no change, nor is what the accountants say of the same history. DATA_LOSS if they are not of
// one tenant, ledger and store, or `later` is of fewer entries.
absl::StatusOr<std::vector<std::string>> ChangesBetween(const v1::PrivacyStatement& earlier,
                                                        const v1::PrivacyStatement& later);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_VERIFY_STATEMENT_CHECK_H_
