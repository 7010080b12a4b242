#ifndef EPSLEDGER_CLIENT_CLI_FILES_INPUT_FILE_H_
#define EPSLEDGER_CLIENT_CLI_FILES_INPUT_FILE_H_

#include <iosfwd>
#include <string>

#include "absl/status/statusor.h"

namespace epsledger::cli {

// Returns every byte of the file. Pipes and devices are files too. INVALID_ARGUMENT says why it
// cannot be read, or that it is longer than 256 MiB, and begins with `what`, the option or argument
// that named it: "--events: got /tmp, want a file that can be read: Is a directory".
absl::StatusOr<std::string> ReadInputFile(const std::string& what, const std::string& path);

// The same, of `in` up to its end if the path is "-".
absl::StatusOr<std::string> ReadInput(const std::string& what, const std::string& path,
                                      std::istream& in);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FILES_INPUT_FILE_H_
