#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_SECONDS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_SECONDS_H_

#include <CLI/CLI.hpp>

namespace epsledger::cli {

// Lets an option whose value is a number of seconds also take a duration with its unit: "3s",
// "500ms", "1m30s", "2h". A number stays as it is. Anything else is a usage error that shows both
// forms. For CLI::Option::transform.
CLI::Validator SecondsOrDuration();

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_SECONDS_H_
