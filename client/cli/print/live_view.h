#ifndef EPSLEDGER_CLIENT_CLI_PRINT_LIVE_VIEW_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_LIVE_VIEW_H_

// --watch: what a verb prints, again on every change.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "client/cli/invocation.h"

namespace epsledger::cli {

struct LiveFlags {
  bool watch = false;
  int64_t limit = 0;

  // Adds --watch and --limit.
  void AddTo(CLI::App& command);
};

// Prints what a verb shows and returns the names of the budgets and sessions whose changes may
// change it, or Fails and returns nothing.
using Draw = std::function<std::optional<std::vector<std::string>>(Invocation&)>;

// Draws once without --watch, else until Ctrl-C, `limit` drawings, or a failure. On a terminal each
// drawing replaces the one before; elsewhere what is new in it is added, a JSON object a line. A
// drawing like the one before is not shown. What others add to a list is looked for every
// two seconds.
void Show(Invocation& invocation, const LiveFlags& flags, const Draw& draw);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_LIVE_VIEW_H_
