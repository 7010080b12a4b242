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
  int64_t copied_count = 0;  // by this run: less than entry_count if it resumed one
};

// Told of how many entries are there, now and then.
using MigrationProgress = absl::FunctionRef<void(int64_t entry_count)>;

// Both move every ledger, entry for entry and hash for hash, replaying each on the way, and end
// with one place that servers take: at no time do both take charges, at the end the source takes
// none for good. Interrupted anywhere, the same call goes on. What each says of errors:
//   FAILED_PRECONDITION  the source is held by a server, or is not whole; the destination holds
//                        ledgers that are not the source's
//   NOT_FOUND            there is nothing to move
//   DATA_LOSS            an entry of the source does not follow from the ones before

// `data_dir`/ledger.sqlite ends as ledger.sqlite.moved, which no server reads.
absl::StatusOr<MigrationReport> MigrateToPostgres(const std::string& data_dir,
                                                  const PostgresStore::Options& options,
                                                  MigrationProgress progress);

// Servers on the database refuse everything from the first moment on. Also takes back a
// MigrateToSqlite of the same `data_dir` that has not come to its end, if called as
// MigrateToPostgres.
absl::StatusOr<MigrationReport> MigrateToSqlite(const PostgresStore::Options& options,
                                                const std::string& data_dir,
                                                MigrationProgress progress);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_MIGRATION_H_
