#include "server/open_store.h"

#include <filesystem>
#include <system_error>

#include "accounting/event/status_macros.h"
#include "server/storage/data_directory.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace epsledger {

storage::PostgresStore::Options PostgresOf(const StorePlace& place) {
  return {.conninfo = place.postgres,
          .password_file = place.postgres_password_file,
          .without_standby = place.postgres_without_standby,
          .untested_engine = place.postgres_untested_engine};
}

absl::StatusOr<std::unique_ptr<storage::LedgerStore>> OpenStore(const StorePlace& place) {
  if (place.data_dir.empty() && place.postgres.empty()) {
    return absl::InvalidArgumentError(
        "--data-dir or --postgres is missing: a ledger that is not kept protects nobody");
  }
  if (!place.postgres.empty()) {
    return storage::PostgresStore::Open(PostgresOf(place));
  }
  RETURN_IF_ERROR(storage::MakeDataDirectory(place.data_dir));
  const std::string database = storage::DatabaseIn(place.data_dir);
  const std::string moved = storage::MovedDatabaseIn(place.data_dir);
  const std::string unfinished = storage::UnfinishedDatabaseIn(place.data_dir);
  const std::string taken_back = storage::TakenBackDatabaseIn(place.data_dir);
  std::error_code ignored;
  const auto exists = [&](const std::string& path) {
    return std::filesystem::exists(path, ignored);
  };
  if (exists(database))
    return storage::SqliteStore::Open(database, {.create = false, .anchored = true});
  // An empty ledger in their place would make every budget available again.
  if (exists(unfinished) || exists(taken_back)) {
    return absl::FailedPreconditionError(place.data_dir +
                                         ": `epsledgerd ledger migrate` has not brought all of the "
                                         "ledgers; run it again to its end");
  }
  if (exists(moved)) {
    return absl::FailedPreconditionError(
        place.data_dir +
        ": its ledgers have been moved to PostgreSQL by `epsledgerd ledger migrate`, and go on "
        "there; remove " +
        moved + " to begin new ones here");
  }
  return storage::SqliteStore::Open(database, {.anchored = true});
}

std::string Describe(const StorePlace& place) {
  return place.postgres.empty() ? place.data_dir : "PostgreSQL";
}

}  // namespace epsledger
