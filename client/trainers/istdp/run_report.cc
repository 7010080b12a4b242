#include "client/trainers/istdp/run_report.h"

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/trainers/istdp/evaluation.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery(350);
constexpr int kPrintEverySteps = 10;
}  // namespace

void Progress::Show(const StepReport& step) {
  const auto now = std::chrono::steady_clock::now();
  const bool due = report_.redraw ? now - last_shown_ >= kRedrawEvery
                                  : step.step == 1 || step.step % kPrintEverySteps == 0;
  if (!due) return;
  last_shown_ = now;
  std::string line = absl::StrFormat("step %3d  held-out objective %.4f", step.step,
                                     Objective(report_.held_out, report_.regularizer, step.theta));
  const std::string epsilons = EpsilonsSoFar(report_.ledger);
  if (!epsilons.empty()) {
    absl::StrAppend(&line, "  epsilon at ", ExactNumber(report_.ledger.delta), ": ", epsilons);
  }
  absl::StrAppend(&line, StepsLeft(report_.ledger, report_.max_steps - step.step));
  if (report_.redraw) {
    report_.out << "\r\033[K" << line << std::flush;
    line_is_open_ = true;
  } else {
    report_.out << line << std::endl;
  }
}

void Progress::Finish() {
  if (line_is_open_) report_.out << "\n";
  line_is_open_ = false;
}

void PrintResult(const RunReport& report, const TrainingResult& result) {
  std::ostream& out = report.out;
  out << "\nTraining ended: " << StopReasonName(result.stop_reason) << " after " << result.releases
      << (result.releases == 1 ? " step.\n" : " steps.\n");
  if (!result.release_status.ok()) {
    out << "The ledger: " << LedgerStatusText(result.release_status) << "\n";
  }
  if (result.releases == 0 && result.stop_reason == StopReason::kRefused) {
    out << "Nothing was released and nothing was charged.\n";
    return;
  }
  PrintGuarantees(report.ledger, result.releases, out);
  if (result.releases == 0) return;
  out << absl::StrFormat(
      "\nHeld-out accuracy %.4f on %d records, with %d of %d coefficients not zero.\n",
      Accuracy(report.held_out, result.last), report.held_out.rows.labels.size(),
      result.support.size(), result.last.size());
  out << "Privacy label: " << kSoundLabel
      << ". Every access to a private record was charged before its noise was drawn. The ledger\n"
         "counts what this program claims: Gaussian noise of that multiplier on sums of clipped "
         "gradients.\n";
}

}  // namespace epsledger::trainers::istdp
