#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/commands/all_budgets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/completion/completion_tree.h"
#include "client/cli/flags/resource_name.h"

namespace epsledger::cli {

namespace {

// Shells ask while somebody types.
constexpr double kNamesSeconds = 1;

// Returns the short names of all sessions of a budget; fewer if the server does not answer.
std::vector<std::string> SessionNames(Invocation& invocation, const std::string& budget) {
  std::vector<std::string> names;
  v1::ListSessionsRequest request;
  request.set_parent(budget);
  request.set_page_size(1000);
  const auto page =
      invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::ListSessions,
                      request, CallKind::kRead);
  if (page == nullptr) return names;
  for (const v1::Session& session : page->sessions()) names.push_back(ShortName(session.name()));
  return names;
}

// Prints the names of budgets or sessions, one a line. What fails is not told: nobody asked.
void PrintServerNames(Invocation& invocation, const std::string& kind) {
  std::ostringstream unheard;
  Terminal quiet{.in = invocation.terminal().in, .out = unheard, .err = unheard};
  Invocation asking(invocation, quiet);
  asking.flags().timeout_seconds = std::min(asking.flags().timeout_seconds, kNamesSeconds);
  const std::optional<std::vector<v1::Budget>> budgets = AllBudgets(asking);
  if (!budgets.has_value()) return;
  for (const v1::Budget& budget : *budgets) {
    const std::vector<std::string> names = kind == "budget" ? std::vector{ShortName(budget.name())}
                                                            : SessionNames(asking, budget.name());
    for (const std::string& name : names) invocation.terminal().out << name << "\n";
  }
  invocation.terminal().out << std::flush;
}

}  // namespace

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

  // The scripts call it; it is hidden from people.
  auto kind = std::make_shared<std::string>();
  CLI::App* names = completion->add_subcommand("names", "Names that the server knows")->group("");
  names->fallthrough();
  names->add_option("kind", *kind)->required()->check(CLI::IsMember({"budget", "session"}));
  names->callback([&invocation, kind] { PrintServerNames(invocation, *kind); });
}

}  // namespace epsledger::cli
