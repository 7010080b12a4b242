#ifndef EPSLEDGER_CLIENT_CLI_COMPLETION_COMPLETION_TREE_H_
#define EPSLEDGER_CLIENT_CLI_COMPLETION_COMPLETION_TREE_H_

// What can be typed: the command tree as shells complete it, and the scripts that do so.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace epsledger::cli {

// What may stand for a value.
struct CompletionValues {
  std::vector<std::string> choices;  // empty: anything
  bool is_file = false;
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
  std::vector<std::string> verbs;  // that may come next
  std::vector<CompletionOption> options;
  CompletionValues words;  // that stand without an option
};

// All commands below `app`, itself first, parents before children. Its own options, which every
// command takes, are those of the first.
std::vector<CompletionCommand> CompletionTree(const CLI::App& app);

std::string BashCompletion(const std::vector<CompletionCommand>& tree);
std::string ZshCompletion(const std::vector<CompletionCommand>& tree);
std::string FishCompletion(const std::vector<CompletionCommand>& tree);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMPLETION_COMPLETION_TREE_H_
