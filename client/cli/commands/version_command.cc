#include <ostream>

#include "client/cli/commands/commands.h"

namespace epsledger::cli {

void AddVersionCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->fallthrough();
  version->footer("Example:\n  epsctl version");
  version->callback([&invocation] {
    if (invocation.IsForPeople()) {
      invocation.terminal().out << "epsctl " EPSLEDGER_VERSION " (API epsledger.v1)\n";
    } else {
      invocation.terminal().out << "{\"version\": \"" EPSLEDGER_VERSION
                                   "\", \"api\": \"epsledger.v1\"}\n";
    }
  });
}

}  // namespace epsledger::cli
