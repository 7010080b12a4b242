#ifndef EPSLEDGER_SERVER_STORAGE_REGULAR_FILE_H_
#define EPSLEDGER_SERVER_STORAGE_REGULAR_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace epsledger::storage {

// Reads a whole file. NOT_FOUND if it does not exist; INVALID_ARGUMENT, naming it, for a folder, a
// pipe or a device, which may have no end; UNAVAILABLE if it cannot be read.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path);

// Opens a file with the flags of open(2) and never waits. Errors as above. The caller closes it.
absl::StatusOr<int> OpenRegularFile(const std::string& path, int flags);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_REGULAR_FILE_H_
