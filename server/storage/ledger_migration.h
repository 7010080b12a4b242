#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_MIGRATION_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_MIGRATION_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/storage/ledger_store.h"
#include "server/storage/postgres/postgres_store.h"

namespace epsledger::storage {

struct MigrationReport {
  std::map<std::string, core::LedgerHead> heads;  // by root id; the same on both sides
  int64_t entry_count = 0;
  int64_t copied_count = 0;  // by this run: less than entry_count after a resumption
};

// Called from time to time with the number of entries at the destination.
using MigrationProgress = absl::FunctionRef<void(int64_t entry_count)>;

// Both functions move every ledger, entry for entry and hash for hash, and replay each on the way.
// At no time do both places take charges; at the end only the destination does, permanently. After
// an interruption at any point, the same call continues. Errors:
//   FAILED_PRECONDITION  the source is held by a server, or is not whole; the destination holds
//                        ledgers that are not the source's
//   NOT_FOUND            there is nothing to move
//   DATA_LOSS            an entry of the source does not follow from the ones before

// `data_dir`/ledger.sqlite is renamed at the end to ledger.sqlite.moved, which no server reads.
absl::StatusOr<MigrationReport> MigrateToPostgres(const std::string& data_dir,
                                                  const PostgresStore::Options& options,
                                                  MigrationProgress progress);

// Servers on the database refuse everything from the first moment on. MigrateToPostgres takes back
// an unfinished MigrateToSqlite of the same `data_dir`.
absl::StatusOr<MigrationReport> MigrateToSqlite(const PostgresStore::Options& options,
                                                const std::string& data_dir,
                                                MigrationProgress progress);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_MIGRATION_H_
