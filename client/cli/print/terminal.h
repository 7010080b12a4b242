#ifndef EPSLEDGER_CLIENT_CLI_PRINT_TERMINAL_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_TERMINAL_H_

#include <iosfwd>

namespace epsledger::cli {

// Where a run of epsctl reads and writes, and what the terminal there can show.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool color = false;   // out takes colors, and NO_COLOR is unset or empty
  bool cursor = false;  // out's cursor can be moved
  bool unicode = false;
  bool in_is_terminal = false;
  bool err_is_terminal = false;
  int width = 0;  // of a line of out, in characters; 0: any

  // True if somebody can be asked, and can answer.
  bool is_conversation() const { return in_is_terminal && err_is_terminal; }
};

// The standard streams, as the environment describes them: NO_COLOR, TERM (unset or "dumb" means a
// terminal that takes only characters), the locale (LC_ALL, LC_CTYPE or LANG), and COLUMNS, which
// wins over the width that the terminal says. A terminal that does not say has 80.
Terminal StandardTerminal();

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_TERMINAL_H_
