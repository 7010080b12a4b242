#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "epsledger/client.h"

namespace epsledger::istdp {

// What one run of the program is told. Everything but the address is public and fixed before the
// records are read.
struct CommandLine {
  ClientOptions client;
  std::string token_file;
  std::string budget;
  std::string session;  // made up and unique if not given

  std::string data;
  std::string test_data;
  std::optional<double> positive_class;
  std::optional<std::int64_t> record_count;  // the public stand-in for the number of records

  // How many steps the noise is chosen for, and after how many training stops by itself.
  int steps = 100;
  int max_steps = 0;  // 0: twice `steps`; with `declared`: `steps`
  std::optional<double> noise_multiplier;
  // A cap of the run's own.
  std::optional<double> epsilon;
  std::optional<double> delta;
  bool declared = false;
  std::int64_t lease = 0;  // steps of one lease; 0: one charge a step
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;

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

}  // namespace epsledger::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_
