#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_RUN_REPORT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_RUN_REPORT_H_

#include <chrono>
#include <ostream>
#include <string>

#include "client/trainers/fsdp/evaluation.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/run/ledger_release.h"
#include "client/trainers/run/session_report.h"
#include "client/trainers/run/training_log.h"

namespace epsledger::trainers::fsdp {

// What the user and the logs see of a run. All of it is public: released or held-out numbers and
// the ledger's answers. Losses of training records are not shown: they would be uncharged releases.
struct RunReport {
  std::ostream& out;
  TrainingLog& log;
  SessionReport ledger;
  const HeldOutColumns& held_out;
  // What this run was charged before its steps, as text with a comma behind; empty: nothing.
  std::string charged_before;
  int max_steps = 0;
  int evaluate_every = 1;
  double feature_seconds = 0;
};

// Shows and logs every evaluate_every-th step and step max_steps: held-out accuracy and loss of the
// averaged parameters (of the last ones without averaging), epsilon so far, steps left. Not
// thread-safe.
class Progress {
 public:
  // Reads only the shape and the layers of the network.
  Progress(const RunReport& report, const network::Network<float>& network);

  void Show(const StepReport& step);

  // Prints and logs how training ended, the history under every accountant and the held-out
  // accuracy. DATA_LOSS if the log could not be written.
  absl::Status Finish(const TrainingResult& result, const LedgerRelease& release);

 private:
  // Evaluates the averaged parameters of `state`, or the last ones without averaging.
  absl::StatusOr<Evaluation> EvaluateState(const TrainingState& state);

  const RunReport& report_;
  network::Network<float> evaluated_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double evaluation_seconds_ = 0;
};

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_RUN_REPORT_H_
