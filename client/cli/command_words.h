#ifndef EPSLEDGER_CLIENT_CLI_COMMAND_WORDS_H_
#define EPSLEDGER_CLIENT_CLI_COMMAND_WORDS_H_

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"

namespace epsledger::cli {

// The nouns, verbs and names of options of a command line, read before CLI11 runs anything.
struct CommandWords {
  // For CLI11, which has no command `help`: "help budget get" is "budget get --help".
  std::vector<std::string> arguments;
  // A noun without a verb, or the program without a noun, where neither help nor the version is
  // asked for. Null otherwise. It belongs to the tree that was read.
  const CLI::App* bare = nullptr;
};

// INVALID_ARGUMENT for the first word that is no command, and the first long option that the
// command does not take. The message names it with what may have been meant. Values of options and
// arguments of verbs are not looked at.
absl::StatusOr<CommandWords> ReadCommandWords(const CLI::App& app,
                                              const std::vector<std::string>& arguments);

// Returns the words that lead to a command: "epsctl budget get".
std::string CommandPath(const CLI::App& command);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMAND_WORDS_H_
