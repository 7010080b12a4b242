#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_INSPECTION_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_INSPECTION_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/export_file.h"
#include "server/storage/postgres/postgres_store.h"

namespace epsledger::storage {

// As VerifySqlite, SqliteIncarnations and ExportSqlite, for the ledgers at one moment: servers may
// continue to run.
absl::StatusOr<std::vector<LedgerReport>> VerifyPostgres(
    const PostgresStore::Options& options, core::PriceCheck prices = core::PriceCheck::kStored,
    VisitEntry visit = [](const std::string&, const core::Entry&) {});
absl::StatusOr<std::vector<core::Incarnation>> PostgresIncarnations(
    const PostgresStore::Options& options);
absl::StatusOr<LedgerReport> ExportPostgres(const PostgresStore::Options& options,
                                            const std::string& root_id, std::ostream& out);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_INSPECTION_H_
