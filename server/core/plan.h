#ifndef EPSLEDGER_SERVER_CORE_PLAN_H_
#define EPSLEDGER_SERVER_CORE_PLAN_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/guarantee.h"
#include "server/core/balance.h"
#include "server/core/cap.h"
#include "server/core/command.h"

namespace epsledger::core {

// The composition of a plan: an epsilon at `delta` by the tightest accountant that knows all its
// events. The events were fixed in advance, so any accountant is valid (not only filters).
absl::StatusOr<accounting::Guarantee> ComposePlan(const SessionSpec& spec, double delta);

// OK if the plan meets a DECLARED session's own cap. INVALID_ARGUMENT if a plan is not composed in
// that currency; FAILED_PRECONDITION if it does not fit; UNIMPLEMENTED with the reason where no
// accountant knows its events.
absl::Status CheckOwnCap(const SessionSpec& spec);

// What a plan costs in each cell of the filter of `cap`, never less than its true cost there. Where
// the filter has room for delta, the plan enters as one interactive (epsilon, plan_delta)-DP
// mechanism (Vadhan and Wang 2021; Lyu 2022); under a trade-off curve it is one plan, if it
// meets every point; in every other quantity it is the sum over its events.
std::vector<Cost> PlanCosts(const SessionSpec& spec, double epsilon, const Cap& cap,
                            const CellFilter& filter);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_PLAN_H_
