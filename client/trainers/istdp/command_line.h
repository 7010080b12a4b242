#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/trainers/run/ledger_flags.h"

namespace epsledger::trainers::istdp {

// What one run of the program is told. Everything but the address is public and fixed before the
// records are read.
struct CommandLine {
  LedgerFlags ledger;

  std::string data;
  std::string test_data;
  std::optional<double> positive_class;
  std::optional<std::int64_t> record_count;  // the public stand-in for the number of records

  double lambda = 5e-4;
  double shape = 2000;
  double row_norm_bound = 1;
  double tolerance = 0;
  bool fixed_steps = false;
};

// Returns the options, or the exit code that the program ends with: 0 after --help, 2 after an
// error that was printed.
struct ParsedCommandLine {
  std::optional<CommandLine> options;
  int exit_code = 0;
};
ParsedCommandLine ParseCommandLine(int argc, char** argv);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_
