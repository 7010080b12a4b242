#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_REPORT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_REPORT_H_

#include <chrono>
#include <ostream>
#include <string>

#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/istdp.h"
#include "client/trainers/istdp/regularizer.h"
#include "client/trainers/run/ledger_report.h"

namespace epsledger::trainers::istdp {

// What a person sees of a run. All of it is public: released or held-out numbers and what the
// ledger says. The objective on training records is not shown: it would be a release that nobody
// charges.
struct RunReport {
  std::ostream& out;
  bool redraw = false;  // progress on one line that is drawn again and again
  LedgerReport ledger;
  const HeldOutRows& held_out;
  const Regularizer& regularizer;
  int max_steps = 0;
};

// Shows a step every so often: the held-out objective, epsilon so far under each accountant, steps
// left. The ledger is asked at most a few times a second, and at every tenth step if the output is
// not redrawn. What the ledger does not answer is left out. Not thread-safe.
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

// Prints how training ended, the history under every accountant, and the held-out accuracy.
void PrintResult(const RunReport& report, const TrainingResult& result);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_RUN_REPORT_H_
