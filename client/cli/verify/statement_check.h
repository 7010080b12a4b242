#ifndef EPSLEDGER_CLIENT_CLI_VERIFY_STATEMENT_CHECK_H_
#define EPSLEDGER_CLIENT_CLI_VERIFY_STATEMENT_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/v1/audit.pb.h"

namespace epsledger::cli {

// Returns the statement of a file that `statement get --save` wrote. INVALID_ARGUMENT if it is no
// such file. Checks no signature.
absl::StatusOr<v1::PrivacyStatement> LoadStatement(const std::string& path);

// Returns the 32 bytes of an Ed25519 public key that is written as 64 hexadecimal digits, or in
// base64 as `server info -o json` prints it. INVALID_ARGUMENT for any other text, and for a key
// that CheckStatement takes for invalid.
absl::StatusOr<std::string> PublicKeyOfDigits(const std::string& digits);

// Returns OK if the owner of `public_key` (32 bytes, Ed25519) signed the statement, and every part
// of it is what was signed, its text, its HTML and its head included. DATA_LOSS names the part that
// is not; INVALID_ARGUMENT for an invalid key: one of another length, or a point of small order,
// for which everybody can make signatures.
absl::Status CheckStatement(const v1::PrivacyStatement& statement, const std::string& public_key);

// The subject of a statement, from its JSON.
struct StatementSubject {
  std::string name;  // "budgets/adult" or "budgets/adult/sessions/run-1"
  double delta = 0;
};

// Returns DATA_LOSS if the JSON is not that of a statement.
absl::StatusOr<StatementSubject> SubjectOf(const v1::PrivacyStatement& statement);

// Returns what has changed in the resource from one of its statements to a later one, as members of
// their JSON: "resource", "caps", ...; empty: nothing. The time of a statement, the length of the
// ledger, and what the accountants say about the same history do not count as changes. DATA_LOSS if
// the statements are not of one tenant, ledger and store, or if `later` covers fewer entries.
absl::StatusOr<std::vector<std::string>> ChangesBetween(const v1::PrivacyStatement& earlier,
                                                        const v1::PrivacyStatement& later);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_VERIFY_STATEMENT_CHECK_H_
