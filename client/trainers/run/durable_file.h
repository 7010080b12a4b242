#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_DURABLE_FILE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_DURABLE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace epsledger::trainers {

// Makes `bytes` the content of the file: durable when it returns OK, and whole or as it was before
// whenever the process or the machine stops: a file of another name beside it, fsync, rename, fsync
// of the directory. FAILED_PRECONDITION with the path if it cannot be written.
absl::Status WriteDurably(const std::string& path, absl::string_view bytes);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_DURABLE_FILE_H_
