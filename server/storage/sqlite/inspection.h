#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_INSPECTION_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_INSPECTION_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/incarnation.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// Reads every row of a stored database, replays every ledger from an empty state, and checks that
// the tables `charges` and `budgets` hold exactly what the entries say. Changes nothing. Returns
// one report per ledger, in order of creation, and one without a root for rows that belong to no
// ledger. NOT_FOUND if the file does not exist, FAILED_PRECONDITION if a server holds it or it is
// not an epsledger database, DATA_LOSS if SQLite itself cannot read it. `visit` gets every correct
// entry.
absl::StatusOr<std::vector<LedgerReport>> VerifySqlite(
    const std::string& path, core::PriceCheck prices = core::PriceCheck::kStored,
    VisitEntry visit = [](const std::string&, const core::Entry&) {});

// Returns the incarnations of a stored database, the present one last. Errors as above.
absl::StatusOr<std::vector<core::Incarnation>> SqliteIncarnations(const std::string& path);

// Writes the export file of one ledger and verifies the ledger on the way. A ledger with a fault is
// not exported; the report then holds the fault. NOT_FOUND also if the ledger does not exist.
absl::StatusOr<LedgerReport> ExportSqlite(const std::string& path, const std::string& root_id,
                                          std::ostream& out);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_INSPECTION_H_
