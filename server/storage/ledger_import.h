#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_IMPORT_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_IMPORT_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// Creates the database `path` with the one ledger of an export file, with the same head. Verifies
// during the import: if the report has a fault, no file is created. The file appears complete or
// not at all. ALREADY_EXISTS if `path` exists already.
absl::StatusOr<LedgerReport> ImportToSqlite(std::istream& in, const std::string& path);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_IMPORT_H_
