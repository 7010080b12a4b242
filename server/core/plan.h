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

// The composition of a plan. It takes seconds for thousands of distinct events, so a server
// computes it before it decides. Answers are cached, also for a repeated decision. Usable by one
// thread at a time.
class PlanComposition {
 public:
  explicit PlanComposition(const SessionSpec& spec);

  // Returns an epsilon at `delta` by the tightest accountant that knows all events of the plan. The
  // events were fixed in advance, so any accountant is valid (not only filters).
  absl::StatusOr<accounting::Guarantee> At(double delta);

  // The number of distinct deltas that At was called with so far.
  size_t asked_count() const { return answers_.size(); }

 private:
  accounting::Question question_;
  std::optional<accounting::ComposedHistory> history_;  // set by the first call of At
  std::map<double, absl::StatusOr<accounting::Guarantee>> answers_;
};

// Returns the deltas at which a plan is checked against `cap`, in the order of the checks.
std::vector<double> DeltasOf(const Cap& cap);

// OK if the plan meets a DECLARED session's own cap. INVALID_ARGUMENT if plans are not composed in
// that currency; FAILED_PRECONDITION if the plan does not fit; UNIMPLEMENTED with the reason if no
// accountant knows its events.
absl::Status CheckOwnCap(const SessionSpec& spec, PlanComposition& plan);

// Returns the cost of a plan in each cell of the filter of `cap`, never less than its true cost
// there. If the filter has room for delta, the plan is one interactive (epsilon, plan_delta)-DP
// mechanism (Vadhan and Wang 2021; Lyu 2022). Under a trade-off curve it is one plan, if it meets
// every point. In every other quantity it costs the sum over its events. Where the filter
// `is_crossed` (as in CostKey), events that are known under replacing alone cost infinity. Adds to
// `wanted` what `pricing` lacks; the result is then meaningless.
std::vector<Cost> PlanCosts(const SessionSpec& spec, PlanComposition& plan, double epsilon,
                            const Cap& cap, const CellFilter& filter, bool is_crossed,
                            const Pricing* pricing, PricesWanted* wanted);

// A plan as uses of one event that are paid together. A plan of several events is one use of their
// composition. REQUIRES: plan not empty.
struct PlanBlock {
  accounting::MechanismEvent event;
  int64_t count = 0;
};
PlanBlock BlockOf(const std::vector<accounting::CountedEvent>& plan);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PLAN_H_
