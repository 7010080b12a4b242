#include "client/trainers/run/session_report.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "epsledger/guarantee.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"

namespace epsledger::trainers {
namespace {

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

}  // namespace

std::string EpsilonsSoFar(const SessionReport& report) {
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

std::optional<double> BestEpsilon(const SessionReport& report) {
  const absl::StatusOr<SessionGuarantees> guarantees = report.session.Guarantees(report.delta);
  if (!guarantees.ok()) return std::nullopt;
  for (const AccountantReading& reading : guarantees->readings) {
    if (reading.accountant == "BEST") return reading.upper;
  }
  return std::nullopt;
}

std::optional<int64_t> StepsThatFit(const SessionReport& report) {
  const absl::StatusOr<ChargePreview> preview = report.session.Preview(report.mechanism);
  if (!preview.ok()) return std::nullopt;
  return preview->steps_that_fit;
}

std::string StepsThatFitText(const SessionReport& report, const LedgerFlags& flags,
                             int events_of_a_step) {
  const std::optional<int64_t> events = StepsThatFit(report);
  if (!events.has_value()) return "";
  const int64_t fit = *events / events_of_a_step;
  const bool is_chosen = !flags.noise_multiplier.has_value();
  if (fit >= flags.steps) {
    return is_chosen ? absl::StrCat(", so that ", flags.steps, " steps fit") : "";
  }
  const bool could_be_chosen = is_chosen && !flags.epsilon.has_value() && !flags.declared;
  return absl::StrCat(is_chosen ? ", so that " : "; ", flags.steps,
                      is_chosen ? " steps fit into the whole cap; " : " steps are wanted, ", fit,
                      " fit into what is left now",
                      could_be_chosen ? " (--fit remaining chooses the noise for that)" : "");
}

std::string StepsLeft(const SessionReport& report, int64_t steps_to_limit) {
  const absl::StatusOr<ChargePreview> preview = report.session.Preview(report.mechanism);
  if (!preview.ok()) return "";
  return absl::StrCat(
      "  steps left ", std::min(preview->steps_that_fit, steps_to_limit),
      preview->steps_that_fit <= steps_to_limit ? " by the ledger" : " by the step limit");
}

std::string ChargedText(int releases, const Mechanism& event) {
  return absl::StrCat(releases, " x ", event.ToJson());
}

void PrintGuarantees(const SessionReport& report, const std::string& charged, std::ostream& out) {
  const absl::StatusOr<SessionGuarantees> guarantees = report.session.Guarantees(report.delta);
  out << "\nWhat the session spent (this run: " << charged << "),\nas epsilon at delta "
      << ExactNumber(report.delta) << " under every accountant:\n\n";
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

std::string LedgerStatusText(const absl::Status& status) {
  const std::optional<RefusalDetails> refusal = RefusalOf(status);
  return refusal.has_value()
             ? RefusalText(*refusal)
             : std::string(status.ToString(absl::StatusToStringMode::kWithNoExtraData));
}

}  // namespace epsledger::trainers
