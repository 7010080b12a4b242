#include <ostream>
#include <string>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/completion/completion_tree.h"

namespace epsledger::cli {

void AddCompletionCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* completion =
      app.add_subcommand("completion", "Scripts that let a shell complete epsctl");
  completion->require_subcommand(1);
  completion->fallthrough();
  const auto add = [&](const char* shell, const char* what, const char* footer,
                       std::string (*script)(const std::vector<CompletionCommand>&)) {
    CLI::App* command = completion->add_subcommand(shell, what);
    command->fallthrough();
    command->footer(footer);
    command->callback([&app, &invocation, script] {
      invocation.terminal().out << script(CompletionTree(app)) << std::flush;
    });
  };
  add("bash", "For bash 4 or later",
      "To make it permanent, put the example into ~/.bashrc.\n"
      "Example:\n  source <(epsctl completion bash)",
      BashCompletion);
  add("zsh", "For zsh",
      "To make it permanent, write it to a file _epsctl in a folder of $fpath.\n"
      "Example:\n  epsctl completion zsh >_epsctl",
      ZshCompletion);
  add("fish", "For fish 3 or later",
      "To make it permanent, write it to ~/.config/fish/completions/epsctl.fish.\n"
      "Example:\n  epsctl completion fish >epsctl.fish",
      FishCompletion);
}

}  // namespace epsledger::cli
