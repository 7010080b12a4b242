#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_COMMAND_LINE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_COMMAND_LINE_H_

#include <optional>
#include <string>

#include "client/trainers/fsdp_published/layered_training.h"
#include "client/trainers/run/ledger_flags.h"

namespace epsledger::trainers::fsdp_published {

struct CommandLine {
  LedgerFlags ledger;
  std::string data = "digits";
  std::string layers;  // as given; training.hidden_layers has them
  TrainingOptions training;
  bool accept_unproven = false;
};

// The options, or the exit code of the program: 0 after --help, 2 after a printed error, including
// a missing --accept-unproven.
struct ParsedCommandLine {
  std::optional<CommandLine> options;
  int exit_code = 0;
};
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_COMMAND_LINE_H_
