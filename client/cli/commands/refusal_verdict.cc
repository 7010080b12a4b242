#include "client/cli/commands/refusal_verdict.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cpp/refusal_message.h"
#include "epsledger/refusal.h"
#include "epsledger/rounded_number.h"
#include "proto/bridge/accountant_readings.h"

namespace epsledger::cli {
namespace {

// Returns a proven lower bound on the epsilon of one use of the event at `delta`; 0 if no
// accountant knows one.
double LeastEpsilon(const v1::MechanismEvent& event, v1::NeighboringRelation::Kind relation,
                    double delta) {
  v1::CompareAccountantsRequest request;
  v1::CountedEvent* one = request.add_events();
  *one->mutable_event() = event;
  one->set_count(1);
  request.set_neighboring_relation(relation);
  request.set_delta(delta);
  request.set_group_size(1);
  auto question = bridge::ToQuestion(request);
  if (!question.ok()) return 0;
  const absl::StatusOr<v1::CompareAccountantsResponse> comparison =
      bridge::CompareAccountants(*std::move(question), [] { return false; });
  if (!comparison.ok()) return 0;
  double least = 0;
  for (const v1::AccountantReading& reading : comparison->readings()) {
    const v1::Guarantee& guarantee = reading.guarantee();
    // A claim that nobody proved bounds nothing from below.
    if (guarantee.contains_unverified_claim() || !guarantee.has_lower()) continue;
    least = std::max(least, guarantee.lower());
  }
  return least;
}

std::optional<v1::Budget> LimitingBudget(Invocation& invocation, const v1::Refusal& refusal) {
  const std::string& limit = refusal.limiting_resource();
  if (limit.empty() || limit.find("/sessions/") != limit.npos) return std::nullopt;
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return std::nullopt;
  v1::GetBudgetRequest request;
  request.set_name(limit);
  absl::StatusOr<v1::Budget> budget =
      (*connection)
          ->Call((*connection)->budgets(), &v1::BudgetService::StubInterface::GetBudget, request);
  return budget.ok() ? std::optional(*std::move(budget)) : std::nullopt;
}

// Returns why not even one use fits, or an empty text if that is not known.
std::string WhyNoneFits(const v1::Budget& budget, const v1::MechanismEvent& event) {
  const std::optional<double> delta = DeltaOf(budget.cap());
  const std::optional<double> cap = EpsilonOf(budget.cap());
  if (delta.has_value() && cap.has_value()) {
    const double least = LeastEpsilon(event, budget.neighboring_relation(), *delta);
    if (least > *cap) {
      return absl::StrCat("too large: one such step alone has an epsilon of ",
                          RoundedNumber(least, Rounding::kDown, 4), " or more at delta ",
                          ExactNumber(*delta), ", and the whole cap is ",
                          RoundedNumber(*cap, Rounding::kUp, 4),
                          ". Ask for more noise, or for a larger budget.");
    }
  }
  if (budget.spent_fraction() <= 0) {
    return "too large: nothing is spent yet, and not one such step fits the cap. Ask for more "
           "noise, or for a larger budget.";
  }
  if (budget.spent_fraction() >= 1) return "spent: nothing of the cap is left.";
  return absl::StrCat("too large for what is left: ",
                      RoundedNumber(100 * budget.spent_fraction(), Rounding::kUp, 3),
                      " % of the cap is spent, and not one such step fits into the rest. Ask for "
                      "more noise, or stop.");
}

}  // namespace

std::string RefusalVerdict(Invocation& invocation, const v1::Refusal& refusal,
                           const v1::MechanismEvent& event) {
  if (refusal.reason() == v1::Refusal::BUDGET_EXHAUSTED && refusal.steps_that_fit() == 0) {
    if (const std::optional<v1::Budget> budget = LimitingBudget(invocation, refusal)) {
      return absl::StrCat("refused, BUDGET_EXHAUSTED by ", budget->name(), ": ",
                          WhyNoneFits(*budget, event));
    }
  }
  return RefusalText(FromMessage(refusal, ""));
}

}  // namespace epsledger::cli
