#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/trainers/istdp/backtracking.h"
#include "client/trainers/istdp/margin_loss.h"
#include "client/trainers/istdp/mode.h"
#include "client/trainers/istdp/regularizer.h"
#include "client/trainers/istdp/sound_line_search.h"
#include "client/trainers/istdp/two_phase.h"
#include "client/trainers/run/canary_flags.h"
#include "client/trainers/run/ledger_flags.h"

namespace epsledger::trainers::istdp {

// The options of one run of the program. Everything except addresses and paths is public and fixed
// before the records are read.
struct CommandLine {
  LedgerFlags ledger;
  Mode mode = Mode::kSound;

  std::string data;
  std::string test_data;
  std::optional<double> positive_class;
  std::optional<int64_t> record_count;  // the public substitute for the number of records
  int feature_count = 0;                // public, for a path; 0: not given
  std::string scale;                    // as in feature_scaling.h; empty: none
  std::string feature_names;            // a file; empty: use numbers

  MarginLoss loss;
  Regularizer regularizer;
  bool universal_threshold = false;  // lambda from the noise, with MCP
  double row_norm_bound = 1;
  double clip_norm = 1;
  double sampling_probability = 1;
  double tolerance = 0;
  std::optional<int> average_last;  // TrainingOptions
  bool fixed_steps = false;
  std::optional<double> step_size;  // fixed to this value instead
  double l2 = 1e-3;                 // of the perturbation baselines
  double target_epsilon = 1;        // of objective perturbation
  double target_delta = 1e-5;

  LineSearchOptions line_search;
  double comparison_share = 0.2;
  TwoPhaseOptions two_phase;
  Backtracking backtracking;  // with the Lipschitz constant of --loss and --row-norm

  double claimed_epsilon = 1;
  double claimed_delta = 1e-5;
  bool accept_unproven = false;

  std::string checkpoint;
  int checkpoint_every = 10;
  bool resume = false;
  bool new_attempt = false;  // start from zero although the session has a checkpoint
  std::string log_json;
  std::string log_csv;
  int log_every = 1;
  std::string model;  // file for the released coefficients

  CanaryFlags canaries;
};

// The options, or the exit code of the program: 0 after --help, 2 after a printed error.
struct ParsedCommandLine {
  std::optional<CommandLine> options;
  int exit_code = 0;
};
ParsedCommandLine ParseCommandLine(int argc, char** argv);

// Returns on one line everything that determines a step. A run continues only from a checkpoint
// that was written with the same text.
std::string SettingsText(const CommandLine& options);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_COMMAND_LINE_H_
