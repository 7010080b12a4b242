#ifndef EPSLEDGER_SERVER_OPEN_STORE_H_
#define EPSLEDGER_SERVER_OPEN_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/ledger_store.h"

namespace epsledger {

// Where ledgers are kept: in a data directory of one server, or in a PostgreSQL of many.
struct StorePlace {
  std::string data_dir;
  // storage::PostgresStore::Options.
  std::string postgres;
  std::string postgres_password_file;
  bool postgres_without_standby = false;
};

// Opens the store; a data directory that is missing is made. INVALID_ARGUMENT unless there is one
// place.
absl::StatusOr<std::unique_ptr<storage::LedgerStore>> OpenStore(const StorePlace& place);

// For people: the folder, or that it is PostgreSQL. Without what the connection string holds.
std::string Describe(const StorePlace& place);

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_OPEN_STORE_H_
