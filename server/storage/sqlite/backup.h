#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_BACKUP_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_BACKUP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// A copy of a database that was verified.
struct VerifiedCopy {
  std::string folder;
  std::vector<LedgerReport> ledgers;  // without a fault
};

// Copies the ledgers of a data directory, and the key of statements if it is in it, into a new
// folder below `folder` that is named by the time; durable when it returns. A server may serve from
// the directory meanwhile, may start, stop or die: it is never held up, and moves its log later.
//
// Guarantee: the copy holds every entry that was acknowledged before the call. It verifies (every
// entry was replayed), and is for its owner alone. After an error nothing stays.
// NOT_FOUND without a ledger; DATA_LOSS if the ledger does not verify; FAILED_PRECONDITION if a
// server of before release 0.2 holds it. Cost: reads the database twice.
absl::StatusOr<VerifiedCopy> BackUp(const std::string& data_dir, const std::string& folder);

// Makes the ledgers of `data_dir`, which has none, from a backup, as a new incarnation. The backup
// is verified, must have the heads that it had, and stays as it is. The files get the owner of
// `data_dir` where this process may give them. ALREADY_EXISTS if there are files of a ledger in it,
// DATA_LOSS if the backup is not as it was taken.
absl::StatusOr<VerifiedCopy> Restore(const std::string& backup, const std::string& data_dir);

// As people know it: "budgets/people", "tokens and denials".
std::string NameOfLedger(const std::string& root_id);

// The lines of the file `heads` of a backup, which `epsledgerd ledger verify` prints: one a ledger.
std::string HeadLines(const std::vector<LedgerReport>& ledgers);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_BACKUP_H_
