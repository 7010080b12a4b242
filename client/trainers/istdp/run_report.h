#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_REPORT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_REPORT_H_

#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/margin_loss.h"
#include "client/trainers/istdp/mode.h"
#include "client/trainers/istdp/published_noise.h"
#include "client/trainers/istdp/regularizer.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/session_report.h"

namespace epsledger::trainers::istdp {

// What the user sees of a run. All of it is public: released or held-out numbers and the ledger's
// answers. The objective on training records is not shown: it would be an uncharged release.
struct RunReport {
  std::ostream& out;
  bool redraw = false;  // progress on one line that is redrawn
  SessionReport ledger;
  const ModeDescription& mode;
  std::optional<PublishedClaim> claim;  // the paper's claim for this run
  const HeldOutRows& held_out;
  const MarginLoss& loss;
  const Regularizer& regularizer;
  const std::vector<std::string>& feature_names;
  int max_steps = 0;
  int releases_of_a_step = 1;
  struct SecondPhase {
    int after_steps = 0;
    Mechanism event;
  };
  std::optional<SecondPhase> second_phase;  // of sound-two-phase
};

// Shows some of the steps: the held-out objective, epsilon so far under each accountant, steps
// left. The ledger is asked at most a few times a second, or at every tenth step if the output is
// not redrawn. Values that the ledger does not answer are left out. Not thread-safe.
class Progress {
 public:
  explicit Progress(const RunReport& report) : report_(report) {}

  void Show(const StepReport& step);
  // Ends the redrawn line.
  void Finish();

 private:
  const RunReport& report_;
  std::chrono::steady_clock::time_point last_shown_;
  bool line_is_open_ = false;
};

// Prints how training ended, the history under every accountant, the held-out accuracy of the last
// and of the averaged iterate, the coefficients that are not zero, and the privacy label. For a run
// that is not proven only the claim is shown, as a claim.
void PrintResult(const RunReport& report, const TrainingResult& result);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_REPORT_H_
