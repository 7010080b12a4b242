#ifndef EPSLEDGER_CLIENT_CLI_EPSCTL_H_
#define EPSLEDGER_CLIENT_CLI_EPSCTL_H_

#include <string>
#include <vector>

#include "client/cli/exit_code.h"
#include "client/cli/invocation.h"

namespace epsledger::cli {

// Runs one command line, without the program's name, and returns its exit code. Reads the
// environment (EPSLEDGER_SERVER, ...) for global flags that are not given. Nothing is printed to or
// read from anywhere but `terminal`.
ExitCode RunEpsctl(const std::vector<std::string>& arguments, Terminal& terminal);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_EPSCTL_H_
