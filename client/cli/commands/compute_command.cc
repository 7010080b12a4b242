#include <istream>
#include <ostream>
#include <string>

#include "absl/strings/ascii.h"
#include "client/cli/commands/commands.h"
#include "proto/bridge/compute.h"

namespace epsledger::cli {
namespace {

// Answers each line before it reads the next, so that a program can choose its next request by the
// answer.
void Compute(Invocation& invocation) {
  Terminal& terminal = invocation.terminal();
  std::string line;
  while (terminal.out && std::getline(terminal.in, line)) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const v1::ComputeResponse response = bridge::AnswerJsonLine(line);
    if (response.has_error()) invocation.set_exit_code(ExitCode::kFailed);
    terminal.out << bridge::ToJsonLine(response) << "\n" << std::flush;
  }
  if (terminal.in.bad()) {
    return invocation.FailOffline(
        absl::InvalidArgumentError("standard input: got one that failed, want a file or a pipe"));
  }
  if (!terminal.out) {
    terminal.err << "epsctl: the answers cannot be written: the output is closed.\n";
    invocation.set_exit_code(ExitCode::kFailed);
  }
}

}  // namespace

void AddComputeCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* compute = app.add_subcommand(
      "compute", "Privacy mathematics without a server: JSON requests in, JSON answers out");
  compute->fallthrough();
  compute->footer(
      "One request a line on standard input, one answer a line on standard output, in order: the\n"
      "proto3 JSON of epsledger.v1.ComputeRequest and ComputeResponse. A line that is not a valid\n"
      "request gets the answer {\"id\": ..., \"error\": {...}}, and the exit code is then 1.\n"
      "Example:\n"
      "  echo '{\"id\": \"a\", \"accountant\": \"RENYI\", \"query\": {\"epsilonAtDelta\": 1e-5},\n"
      "    \"events\": [{\"count\": 100, \"event\": {\"gaussian\": {\"noiseMultiplier\": 40}}}]}' "
      "|\n"
      "    tr -d '\\n' | epsctl compute");
  compute->callback([&invocation] { Compute(invocation); });
}

}  // namespace epsledger::cli
