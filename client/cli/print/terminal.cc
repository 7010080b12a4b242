#include "client/cli/print/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace epsledger::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first of the three variables that is not empty decides, as in setlocale(3).
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = absl::AsciiStrToLower(Variable(name));
    if (locale.empty()) continue;
    return absl::StrContains(locale, "utf-8") || absl::StrContains(locale, "utf8");
  }
  return false;
}

// Returns the width of the terminal at the standard output.
int WidthOfTerminal() {
  constexpr int kUsualWidth = 80;
  constexpr int kLeastWidth = 20;
  int width = 0;
  if (absl::SimpleAtoi(Variable("COLUMNS"), &width) && width >= kLeastWidth) return width;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastWidth) {
    return size.ws_col;
  }
  return kUsualWidth;
}

}  // namespace

Terminal StandardTerminal() {
  const bool out_is_terminal = isatty(STDOUT_FILENO) == 1;
  const std::string kind = Variable("TERM");
  const bool cursor = out_is_terminal && !kind.empty() && kind != "dumb";
  return {.in = std::cin,
          .out = std::cout,
          .err = std::cerr,
          .out_is_terminal = out_is_terminal,
          .color = cursor && Variable("NO_COLOR").empty(),
          .cursor = cursor,
          .unicode = LocaleIsUtf8(),
          .in_is_terminal = isatty(STDIN_FILENO) == 1,
          .err_is_terminal = isatty(STDERR_FILENO) == 1,
          .width = out_is_terminal ? WidthOfTerminal() : 0};
}

}  // namespace epsledger::cli
