#ifndef EPSLEDGER_SERVER_OPEN_STORE_H_
#define EPSLEDGER_SERVER_OPEN_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/ledger_store.h"
#include "server/storage/postgres/postgres_store.h"

namespace epsledger {

// Where ledgers are stored: in the data directory of one server, or in a PostgreSQL that many
// servers share.
struct StorePlace {
  std::string data_dir;
  // storage::PostgresStore::Options.
  std::string postgres;
  std::string postgres_password_file;
  bool postgres_without_standby = false;
  bool postgres_untested_engine = false;
};

// REQUIRES: place.postgres is not empty.
storage::PostgresStore::Options PostgresOf(const StorePlace& place);

// Opens the store. Creates a missing data directory. INVALID_ARGUMENT unless exactly one place is
// given.
absl::StatusOr<std::unique_ptr<storage::LedgerStore>> OpenStore(const StorePlace& place);

// Returns a description for people: the folder, or that the store is PostgreSQL. Does not show the
// connection string.
std::string Describe(const StorePlace& place);

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_OPEN_STORE_H_
