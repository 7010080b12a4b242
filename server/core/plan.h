#ifndef EPSLEDGER_SERVER_CORE_PLAN_H_
#define EPSLEDGER_SERVER_CORE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/answer.h"
#include "accounting/guarantee.h"
#include "server/core/balance.h"
#include "server/core/cap.h"
#include "server/core/command.h"
#include "server/core/pricing.h"

namespace epsledger::core {

// What a plan composes to. Seconds for a plan of thousands of distinct events, so that a server
// does it before it decides; what was asked once is remembered, also for a decision that is
// repeated. Usable by one thread at a time.
class PlanComposition {
 public:
  explicit PlanComposition(const SessionSpec& spec);

  // An epsilon at `delta` by the tightest accountant that knows all events of the plan. They were
  // fixed in advance, so any accountant is valid (not only filters).
  absl::StatusOr<accounting::Guarantee> At(double delta);

  // How many distinct deltas At was asked so far.
  size_t asked_count() const { return answers_.size(); }

 private:
  accounting::Question question_;
  std::optional<accounting::ComposedHistory> history_;  // from the first question on
  std::map<double, absl::StatusOr<accounting::Guarantee>> answers_;
};

// The deltas at which it is asked whether a plan meets `cap`, the first ones first.
std::vector<double> DeltasOf(const Cap& cap);

// OK if the plan meets a DECLARED session's own cap. INVALID_ARGUMENT if a plan is not composed in
// that currency; FAILED_PRECONDITION if it does not fit; UNIMPLEMENTED with the reason where no
// accountant knows its events.
absl::Status CheckOwnCap(const SessionSpec& spec, PlanComposition& plan);

// What a plan costs in each cell of the filter of `cap`, never less than its true cost there. Where
// the filter has room for delta, the plan enters as one interactive (epsilon, plan_delta)-DP
// mechanism (Vadhan and Wang 2021; Lyu 2022); under a trade-off curve it is one plan, if it
// meets every point; in every other quantity it is the sum over its events. Where the filter
// `is_crossed` (as in CostKey), what composes under replacing alone costs infinitely much. Says
// nothing of worth after adding to `wanted` what `pricing` lacks.
std::vector<Cost> PlanCosts(const SessionSpec& spec, PlanComposition& plan, double epsilon,
                            const Cap& cap, const CellFilter& filter, bool is_crossed,
                            const Pricing* pricing, PricesWanted* wanted);

// A plan as uses of one event that are paid together: a plan of several events is one use of their
// composition. REQUIRES: plan not empty.
struct PlanBlock {
  accounting::MechanismEvent event;
  int64_t count = 0;
};
PlanBlock BlockOf(const std::vector<accounting::CountedEvent>& plan);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PLAN_H_
