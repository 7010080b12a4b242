#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_INSPECTION_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_INSPECTION_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/incarnation.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// Reads every row of a stored database and replays every ledger, each from empty: entries, and that
// the tables `charges` and `budgets` hold exactly what the entries say. Changes nothing. One report
// a ledger, in order of creation; one more, without a root, for rows that belong to none.
// NOT_FOUND if there is no such file, FAILED_PRECONDITION if a server holds it or it is not ours,
// DATA_LOSS if SQLite itself cannot read it.
// `visit` gets every entry that is right.
absl::StatusOr<std::vector<LedgerReport>> VerifySqlite(
    const std::string& path, core::PriceCheck prices = core::PriceCheck::kStored,
    VisitEntry visit = [](const std::string&, const core::Entry&) {});

// The incarnations of a stored database, the present one last. Errors as above.
absl::StatusOr<std::vector<core::Incarnation>> SqliteIncarnations(const std::string& path);

// Writes the export file of one ledger, verifying it on the way; a ledger with a fault is not
// exported: the report then says what is wrong. NOT_FOUND also for a ledger that is not there.
absl::StatusOr<LedgerReport> ExportSqlite(const std::string& path, const std::string& root_id,
                                          std::ostream& out);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_INSPECTION_H_
