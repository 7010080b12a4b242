#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/epsctl.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  epsledger::cli::Terminal terminal{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .out_is_terminal = is_terminal,
      .color = is_terminal && (no_color == nullptr || *no_color == '\0')};
  return static_cast<int>(
      epsledger::cli::RunEpsctl(std::vector<std::string>(argv + 1, argv + argc), terminal));
}
