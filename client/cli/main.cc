#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/epsctl.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // gRPC would write lines of its own to standard error. What went wrong is in the statuses.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  epsledger::cli::Terminal terminal = epsledger::cli::StandardTerminal();
  return static_cast<int>(
      epsledger::cli::RunEpsctl(std::vector<std::string>(argv + 1, argv + argc), terminal));
}
