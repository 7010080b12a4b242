#include "client/trainers/istdp/run_report.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/trainers/istdp/evaluation.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery(350);
constexpr int kPrintEverySteps = 10;
constexpr size_t kMostCoefficients = 20;

void PrintSupport(const RunReport& report, const TrainingResult& result) {
  std::vector<int> largest_first = result.support;
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](int left, int right) {
    return std::fabs(result.last[left]) > std::fabs(result.last[right]);
  });
  report.out << result.support.size() << " of " << result.last.size()
             << " coefficients are not zero" << (largest_first.empty() ? "." : ":");
  const size_t shown = std::min(largest_first.size(), kMostCoefficients);
  for (size_t k = 0; k < shown; ++k) {
    const int j = largest_first[k];
    report.out << (k == 0 ? " " : ", ") << report.feature_names[static_cast<size_t>(j)] << " "
               << absl::StrFormat("%.4g", result.last[j]);
  }
  if (shown < largest_first.size())
    report.out << ", and " << largest_first.size() - shown << " more";
  report.out << "\n";
}

std::string Charged(const RunReport& report, const TrainingResult& result) {
  const int steps = result.releases / report.releases_of_a_step;
  const auto& second = report.second_phase;
  if (!second.has_value() || steps <= second->after_steps) {
    return ChargedText(steps, report.ledger.mechanism);
  }
  return absl::StrCat(ChargedText(second->after_steps, report.ledger.mechanism), ", ",
                      ChargedText(steps - second->after_steps, second->event));
}

void PrintLabel(const RunReport& report) {
  report.out << "Privacy label: " << LabelText(report.mode) << ".\n";
  if (report.claim.has_value()) {
    report.out << absl::StrFormat(
                      "The paper's theorem 3.3 claims epsilon %g at delta %g of %d "
                      "iterations.",
                      report.claim->epsilon, report.claim->delta, report.claim->iterations)
               << (report.mode.proven ? " What is proven stands above.\n"
                                      : " That is a claim: no epsilon of this run is proven.\n");
  }
  if (!report.mode.proven) return;
  report.out << "Every access to a private record was charged before its noise was drawn. The "
                "ledger\ncounts what this program claims: Gaussian noise of that multiplier on "
                "sums of clipped\ngradients.\n";
}

}  // namespace

void Progress::Show(const StepReport& step) {
  const auto now = std::chrono::steady_clock::now();
  const bool due = report_.redraw ? now - last_shown_ >= kRedrawEvery
                                  : step.step == 1 || step.step % kPrintEverySteps == 0;
  if (!due) return;
  last_shown_ = now;
  std::string line =
      absl::StrFormat("step %3d  held-out objective %.4f", step.step,
                      Objective(report_.held_out, report_.loss, report_.regularizer, step.theta));
  const std::string epsilons = report_.mode.proven ? EpsilonsSoFar(report_.ledger) : "";
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
  out << "\nTraining ended: " << StopReasonName(result.stop_reason) << " after " << result.steps
      << (result.steps == 1 ? " step" : " steps") << ", with " << result.releases
      << (result.releases == 1 ? " release.\n" : " releases.\n");
  if (!result.release_status.ok()) {
    out << "The ledger: " << LedgerStatusText(result.release_status) << "\n";
  }
  if (result.releases == 0 && result.stop_reason == StopReason::kRefused) {
    out << "Nothing was released and nothing was charged.\n";
    return;
  }
  if (report.mode.proven) {
    if (report.releases_of_a_step > 1) {
      out << "Each step was charged " << report.releases_of_a_step
          << " events, of which the first stands below.\n";
    }
    PrintGuarantees(report.ledger, Charged(report, result), out);
  }
  if (result.releases > 0) {
    const auto accuracy = [&](const Eigen::VectorXd& theta) {
      return Accuracy(report.held_out, theta);
    };
    const auto objective = [&](const Eigen::VectorXd& theta) {
      return Objective(report.held_out, report.loss, report.regularizer, theta);
    };
    out << absl::StrFormat(
        "\nOn %d held-out records: accuracy %.4f, objective %.4f (averaged iterate: %.4f, %.4f).\n",
        report.held_out.rows.labels.size(), accuracy(result.last), objective(result.last),
        accuracy(result.averaged), objective(result.averaged));
    PrintSupport(report, result);
  }
  PrintLabel(report);
}

}  // namespace epsledger::trainers::istdp
