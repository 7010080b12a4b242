#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_IMPORT_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_IMPORT_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// Makes `path`, a database that holds the one ledger of an export file, with the same head.
// Verifies while it imports: with a fault in the report there is no file afterwards. The file
// appears whole or not at all. ALREADY_EXISTS if there is one already.
absl::StatusOr<LedgerReport> ImportToSqlite(std::istream& in, const std::string& path);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_IMPORT_H_
