#ifndef EPSLEDGER_CLIENT_CLI_COMPLETION_COMPLETION_TREE_H_
#define EPSLEDGER_CLIENT_CLI_COMPLETION_COMPLETION_TREE_H_

// The command tree as shells complete it, and the scripts that do so.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace epsledger::cli {

// The possible values of an option or argument.
struct CompletionValues {
  std::vector<std::string> choices;  // empty: anything
  bool is_file = false;
  std::string names;  // "budget" or "session": names that the server knows; empty: none
};

struct CompletionOption {
  std::vector<std::string> names;  // "--output", "-o"
  std::string help;
  bool takes_value = false;
  CompletionValues values;
};

struct CompletionCommand {
  std::string path;  // "budget create"; empty: the program itself
  std::string help;
  std::vector<std::string> verbs;  // the subcommands
  std::vector<CompletionOption> options;
  CompletionValues words;  // the arguments without an option
};

// Returns all commands below `app` that its help shows, `app` itself first, parents before
// children. The options of `app`, which every command takes, are listed only for `app`.
std::vector<CompletionCommand> CompletionTree(const CLI::App& app);

std::string BashCompletion(const std::vector<CompletionCommand>& tree);
std::string ZshCompletion(const std::vector<CompletionCommand>& tree);
std::string FishCompletion(const std::vector<CompletionCommand>& tree);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMPLETION_COMPLETION_TREE_H_
