#include "client/trainers/istdp/run_report.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/trainers/istdp/evaluation.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"

namespace epsledger::istdp {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery(350);
constexpr int kPrintEverySteps = 10;
constexpr int kProgressDigits = 4;

std::string KindName(GuaranteeKind kind) {
  switch (kind) {
    case GuaranteeKind::kUpperBound:
      return "upper bound";
    case GuaranteeKind::kLowerBound:
      return "lower bound";
    case GuaranteeKind::kApproximation:
      return "approximation";
    case GuaranteeKind::kUnspecified:
      break;
  }
  return "unknown";
}

// "RENYI 0.31, ZCDP 0.33": every accountant that has an epsilon.
std::string EpsilonsSoFar(const RunReport& report) {
  const absl::StatusOr<SessionGuarantees> guarantees = report.session.Guarantees(report.delta);
  std::string text;
  if (!guarantees.ok()) return text;
  for (const AccountantReading& reading : guarantees->readings) {
    if (!reading.upper.has_value() || reading.accountant == "BEST") continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", reading.accountant, " ",
                    RoundedNumber(*reading.upper, Rounding::kUp, kProgressDigits));
  }
  return text;
}

void PrintGuarantees(const RunReport& report, int releases) {
  const absl::StatusOr<SessionGuarantees> guarantees = report.session.Guarantees(report.delta);
  std::ostream& out = report.out;
  out << "\nWhat the session spent (this run: " << releases << " x " << report.mechanism.ToJson()
      << "),\nas epsilon at delta " << ExactNumber(report.delta) << " under every accountant:\n\n";
  if (!guarantees.ok()) {
    out << "  the ledger does not say: " << guarantees.status().message() << "\n";
    return;
  }
  out << absl::StrFormat("  %-20s %-10s %-13s %s\n", "ACCOUNTANT", "EPSILON", "KIND",
                         "THEOREM, OR WHY THERE IS NONE");
  for (const AccountantReading& reading : guarantees->readings) {
    if (!reading.upper.has_value()) {
      out << absl::StrFormat("  %-20s %-10s %-13s %s\n", reading.accountant, "-", "-",
                             reading.reason_unavailable);
      continue;
    }
    const std::string winner =
        reading.accountant == "BEST" ? absl::StrCat(reading.answered_by, ": ") : "";
    out << absl::StrFormat("  %-20s %-10s %-13s %s%s%s\n", reading.accountant,
                           RoundedNumber(*reading.upper, Rounding::kUp), KindName(reading.kind),
                           winner, reading.theorem,
                           reading.contains_unverified_claim ? " (holds an unverified claim)" : "");
  }
}

}  // namespace

void Progress::Show(const StepReport& step) {
  const auto now = std::chrono::steady_clock::now();
  const bool due = report_.redraw ? now - last_shown_ >= kRedrawEvery
                                  : step.step == 1 || step.step % kPrintEverySteps == 0;
  if (!due) return;
  last_shown_ = now;
  std::string line = absl::StrFormat("step %3d  held-out objective %.4f", step.step,
                                     Objective(report_.held_out, report_.regularizer, step.theta));
  const std::string epsilons = EpsilonsSoFar(report_);
  if (!epsilons.empty()) {
    absl::StrAppend(&line, "  epsilon at ", ExactNumber(report_.delta), ": ", epsilons);
  }
  if (const auto preview = report_.session.Preview(report_.mechanism); preview.ok()) {
    absl::StrAppend(&line, "  steps left ",
                    std::min<std::int64_t>(preview->steps_that_fit, report_.max_steps - step.step),
                    preview->steps_that_fit <= report_.max_steps - step.step
                        ? " by the ledger"
                        : " by the step limit");
  }
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
    const std::optional<RefusalDetails> refusal = RefusalOf(result.release_status);
    out << "The ledger: "
        << (refusal.has_value() ? RefusalText(*refusal)
                                : std::string(result.release_status.ToString(
                                      absl::StatusToStringMode::kWithNoExtraData)))
        << "\n";
  }
  if (result.releases == 0 && result.stop_reason == StopReason::kRefused) {
    out << "Nothing was released and nothing was charged.\n";
    return;
  }
  PrintGuarantees(report, result.releases);
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

}  // namespace epsledger::istdp
