#ifndef EPSLEDGER_CLIENT_CLI_PRINT_LIVE_VIEW_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_LIVE_VIEW_H_

// --watch: shows what a verb prints, again on every change.

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

// Prints what a verb shows. Returns the names of the budgets and sessions whose changes may change
// it, or Fails and returns nothing.
using Draw = std::function<std::optional<std::vector<std::string>>(Invocation&)>;

// Without --watch, draws once. With it, draws until Ctrl-C, `limit` drawings, or a failure. On a
// terminal each drawing replaces the one before; elsewhere only its new parts are printed, a JSON
// object a line. A drawing that equals the one before is not shown. Additions to a list by others
// are looked for every two seconds.
void Show(Invocation& invocation, const LiveFlags& flags, const Draw& draw);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_LIVE_VIEW_H_
