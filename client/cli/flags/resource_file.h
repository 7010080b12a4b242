#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_RESOURCE_FILE_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_RESOURCE_FILE_H_

#include <iosfwd>
#include <string>

#include <google/protobuf/message.h>
#include <CLI/CLI.hpp>

#include "absl/status/status.h"

namespace epsledger::cli {

// Adds --file.
void AddFileFlag(CLI::App& command, std::string& path);

// Clears the name and every field that only the server sets (OUTPUT_ONLY), also in the messages
// inside, so that a copy of the resource can be made.
void ClearWhatTheServerSets(google::protobuf::Message* message);

// Reads the proto3 JSON of a resource from a file, or from `in` if the path is "-": what a `get`
// prints with -o json. ClearWhatTheServerSets clears it. INVALID_ARGUMENT names the file and what
// is wrong in it.
absl::Status ReadResourceFile(const std::string& path, std::istream& in,
                              google::protobuf::Message* resource);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_RESOURCE_FILE_H_
