#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_BACKUP_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_BACKUP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// A verified copy of a database.
struct VerifiedCopy {
  std::string folder;
  std::vector<LedgerReport> ledgers;  // without a fault
};

// Copies the ledgers of a data directory, and the statement key if the directory has it, into a new
// folder below `folder` that is named by the time. The copy is durable when BackUp returns. A
// server may serve from the directory, start, stop or die in the meantime: it is never delayed, and
// moves its log later.
//
// Guarantee: the copy holds every entry that was acknowledged before the call. It verifies (every
// entry was replayed), and only its owner can access it. After an error nothing remains. NOT_FOUND
// without a ledger; DATA_LOSS if the ledger does not verify; FAILED_PRECONDITION if a server older
// than release 0.2 holds it. Cost: reads the database twice.
absl::StatusOr<VerifiedCopy> BackUp(const std::string& data_dir, const std::string& folder);

// Restores a backup into `data_dir`, which has no ledgers, as a new incarnation. Verifies the
// backup, which must have its recorded heads and stays unchanged. The files get the owner of
// `data_dir` if this process has the right. ALREADY_EXISTS if `data_dir` has files of a ledger,
// DATA_LOSS if the backup has changed since it was taken.
absl::StatusOr<VerifiedCopy> Restore(const std::string& backup, const std::string& data_dir);

// Returns the name for people: "budgets/people", "tokens and denials".
std::string NameOfLedger(const std::string& root_id);

// Returns the lines of the file `heads` of a backup, which `epsledgerd ledger verify` also prints:
// one per ledger.
std::string HeadLines(const std::vector<LedgerReport>& ledgers);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_BACKUP_H_
