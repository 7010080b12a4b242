#ifndef EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_
#define EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace epsledger::storage {

// The file of the ledgers; of ledgers that were moved to another store; of ledgers that are being
// moved here.
std::string DatabaseIn(const std::string& data_dir);
std::string MovedDatabaseIn(const std::string& data_dir);
std::string UnfinishedDatabaseIn(const std::string& data_dir);
std::string TakenBackDatabaseIn(const std::string& data_dir);

// Makes the names in a directory durable. UNAVAILABLE if it cannot.
absl::Status SyncDirectory(const std::string& path);

// Makes the directory, for its owner alone, and those above it that are missing. Every new name is
// durable when it returns: a ledger must not be gone with its directory after a power cut. Does
// nothing if it is there. UNAVAILABLE if it cannot. `sync`: for tests.
absl::Status MakeDataDirectory(
    const std::string& path,
    absl::FunctionRef<absl::Status(const std::string& path)> sync = SyncDirectory);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_
