#ifndef EPSLEDGER_SERVER_METRICS_BUDGET_GAUGES_H_
#define EPSLEDGER_SERVER_METRICS_BUDGET_GAUGES_H_

#include <optional>
#include <vector>

#include "prometheus/metric_family.h"
#include "server/core/durable_ledger.h"
#include "server/core/tenant.h"

namespace epsledger::metrics {

// Budgets that get gauges of their own; operators alert on a few hundred, not on a million.
inline constexpr int64_t kMaxBudgetGauges = 10'000;

// What the budgets of `tenant` hold now, or, without one, those of all tenants; at most
// kMaxBudgetGauges of them:
//   epsledger_budget_spent_ratio{tenant, budget}   in [0, 1], rounded up
//   epsledger_budget_leased_ratio{tenant, budget}  of it in open leases
//   epsledger_budget_alerts{tenant, budget}        alert thresholds that are passed
//   epsledger_budget_state{tenant, budget, state}  1, for the state that it is in
//   epsledger_budgets, epsledger_sessions, epsledger_ledger_entries
//   epsledger_ledgers_quarantined                  those that take no commands at this server
//   epsledger_unproved_heads                       that clients brought since the start
// The last two, which are of the server as a whole, only without a tenant.
// Cost: O(budgets of all tenants), on the ledger's thread.
std::vector<prometheus::MetricFamily> ReadBudgetGauges(
    core::LedgerReader& reader, const std::optional<core::Tenant>& tenant = std::nullopt);

// epsledger_ready: 1 if the ledger takes charges, as /readyz says.
prometheus::MetricFamily ReadyGauge(bool ready);

}  // namespace epsledger::metrics

#endif  // EPSLEDGER_SERVER_METRICS_BUDGET_GAUGES_H_
