#ifndef EPSLEDGER_SERVER_METRICS_BUDGET_GAUGES_H_
#define EPSLEDGER_SERVER_METRICS_BUDGET_GAUGES_H_

#include <optional>
#include <vector>

#include "prometheus/metric_family.h"
#include "server/core/durable_ledger.h"
#include "server/core/tenant.h"

namespace epsledger::metrics {

// The maximum number of budgets with their own gauges: operators alert on a few hundred, not on a
// million.
inline constexpr int64_t kMaxBudgetGauges = 10'000;

// Returns gauges of the budgets of `tenant`, or of all tenants without one; at most
// kMaxBudgetGauges budgets:
//   epsledger_budget_spent_ratio{tenant, budget}   in [0, 1], rounded up
//   epsledger_budget_leased_ratio{tenant, budget}  the part in open leases
//   epsledger_budget_alerts{tenant, budget}        passed alert thresholds
//   epsledger_budget_state{tenant, budget, state}  1 for its present state
//   epsledger_budgets, epsledger_sessions, epsledger_ledger_entries
//   epsledger_ledgers_quarantined                  ledgers that take no commands at this server
//   epsledger_unproved_heads                       brought by clients since the start
// The last two describe the whole server and are returned only without a tenant. Cost: O(budgets of
// all tenants), on the ledger's thread.
std::vector<prometheus::MetricFamily> ReadBudgetGauges(
    core::LedgerReader& reader, const std::optional<core::Tenant>& tenant = std::nullopt);

// epsledger_ready: 1 if the ledger takes charges, as /readyz says.
prometheus::MetricFamily ReadyGauge(bool ready);

}  // namespace epsledger::metrics

#endif  // EPSLEDGER_SERVER_METRICS_BUDGET_GAUGES_H_
