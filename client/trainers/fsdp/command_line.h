#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_COMMAND_LINE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/run/canary_flags.h"
#include "client/trainers/run/ledger_flags.h"

namespace epsledger::trainers::fsdp {

// The options of epsledger-fsdp. All are public and fixed before the records are read.
struct CommandLine {
  LedgerFlags ledger;
  TrainingOptions training;  // without the values from the ledger and the data

  std::string data;
  bool deskew = false;
  std::string features = "pixels";
  std::string feature_cache;
  double input_scale = 1;
  // The noise multiplier of a private mean of the features, which is subtracted from them.
  std::optional<double> center_noise;
  int public_directions = 0;  // of the public digits; 0: none
  int view_count = 1;         // of each training record
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
  bool new_attempt = false;  // start from zero although the session has a checkpoint

  CanaryFlags canaries;
};

// Returns as text everything that the model depends on except noise, seed and the number of steps.
// A run can continue only if this text is the same.
std::string SettingsText(const CommandLine& options);

struct ParsedCommandLine {
  std::optional<CommandLine> options;
  int exit_code = 0;  // without options
};

// Parses the arguments; prints help or the error.
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_COMMAND_LINE_H_
