#ifndef EPSLEDGER_CLIENT_CLI_VERIFY_LEDGER_EXPORT_H_
#define EPSLEDGER_CLIENT_CLI_VERIFY_LEDGER_EXPORT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "epsledger/v1/audit.pb.h"

namespace epsledger::cli {

// Writes an export file (server/storage/README.md has the format), and checks that every entry
// follows from the one before.
class LedgerExport {
 public:
  // `root_budget` is "budgets/{budget}". REQUIRES: `out` outlives it.
  LedgerExport(std::ostream& out, const std::string& root_budget);
  // DATA_LOSS if `entry` is not the next entry or its hash does not follow.
  absl::Status Add(const v1::AuditEntry& entry);
  // Writes the last line. UNAVAILABLE if the file could not be written.
  absl::Status Finish();

 private:
  // Returns the root over the entries so far (RFC 6962).
  std::string MerkleRoot() const;

  std::ostream& out_;
  int64_t entry_count_ = 0;
  std::string hash_;
  std::vector<std::string> subtrees_;  // roots of complete subtrees, the largest first
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_VERIFY_LEDGER_EXPORT_H_
