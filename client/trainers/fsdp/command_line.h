#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_COMMAND_LINE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/run/canary_flags.h"
#include "client/trainers/run/ledger_flags.h"

namespace epsledger::trainers::fsdp {

// What epsledger-fsdp was told. Everything here is public and fixed before the records are read.
struct CommandLine {
  LedgerFlags ledger;
  TrainingOptions training;  // without what the ledger and the data say

  std::string data;
  bool deskew = false;
  std::string features = "pixels";
  std::string feature_cache;
  double input_scale = 1;
  int64_t public_held_out = 0;
  std::optional<int64_t> record_count;
  std::string model = "linear";
  uint64_t seed = 1;
  std::optional<double> epochs;

  int log_every = 0;  // 0: about twenty times
  std::string log_json;
  std::string log_csv;
  std::string model_file;
  std::string checkpoint;
  int checkpoint_every = 50;
  bool resume = false;
  bool new_attempt = false;  // from zero, though there is a checkpoint of the session

  CanaryFlags canaries;
};

// Returns everything that the model depends on beside noise, seed and the number of steps, in
// words: what must be the same for a run to go on.
std::string SettingsText(const CommandLine& options);

struct ParsedCommandLine {
  std::optional<CommandLine> options;
  int exit_code = 0;  // without options
};

// Parses; prints help or what is wrong.
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_COMMAND_LINE_H_
