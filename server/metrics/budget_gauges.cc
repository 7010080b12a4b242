#include "server/metrics/budget_gauges.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/core/describe.h"
#include "server/core/ledger.h"

namespace epsledger::metrics {
namespace {

prometheus::MetricFamily Gauges(const char* name, const char* help) {
  return {name, help, prometheus::MetricType::Gauge, {}};
}

void Add(prometheus::MetricFamily& family, std::vector<prometheus::ClientMetric::Label> labels,
         double value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

}  // namespace

std::vector<prometheus::MetricFamily> ReadBudgetGauges(core::LedgerReader& reader,
                                                       const std::optional<core::Tenant>& tenant) {
  prometheus::MetricFamily spent =
      Gauges("epsledger_budget_spent_ratio", "Share of the cap that is spent, rounded up.");
  prometheus::MetricFamily leased =
      Gauges("epsledger_budget_leased_ratio",
             "Share of the cap that is in open leases; it counts as spent.");
  prometheus::MetricFamily state =
      Gauges("epsledger_budget_state", "1 for the state that the budget is in.");
  prometheus::MetricFamily alerts =
      Gauges("epsledger_budget_alerts", "Alert thresholds of the budget that are passed.");
  int64_t budgets = 0;
  int64_t sessions = 0;
  int64_t entries = 0;
  for (const core::LedgerReader::TenantLedger& of_tenant : reader.AllLedgers()) {
    if (tenant && of_tenant.tenant != tenant->name) continue;
    const core::Ledger& ledger = *of_tenant.ledger;
    sessions += ledger.session_count();
    entries += ledger.head().sequence;
    for (const auto& [id, budget] : ledger.budgets()) {
      if (++budgets > kMaxBudgetGauges) continue;
      const std::vector<prometheus::ClientMetric::Label> labels = {{"tenant", of_tenant.tenant},
                                                                   {"budget", id}};
      const double ratio = budget.balance.SpentFraction();
      const std::vector<double>& thresholds = budget.description.alert_thresholds;
      Add(spent, labels, ratio);
      Add(leased, labels, ledger.LeasedFraction(budget));
      Add(state, {labels[0], labels[1], {"state", core::Name(budget.phase)}}, 1);
      Add(alerts, labels,
          static_cast<double>(
              std::count_if(thresholds.begin(), thresholds.end(),
                            [ratio](double threshold) { return ratio >= threshold; })));
    }
  }
  prometheus::MetricFamily budget_count =
      Gauges("epsledger_budgets", tenant ? "Budgets of the tenant." : "Budgets of all tenants.");
  Add(budget_count, {}, static_cast<double>(budgets));
  prometheus::MetricFamily session_count =
      Gauges("epsledger_sessions", tenant ? "Sessions of the tenant." : "Sessions of all tenants.");
  Add(session_count, {}, static_cast<double>(sessions));
  prometheus::MetricFamily entry_count =
      Gauges("epsledger_ledger_entries",
             tenant ? "Entries of the tenant's ledgers." : "Entries of all ledgers.");
  Add(entry_count, {}, static_cast<double>(entries));
  std::vector<prometheus::MetricFamily> families = {spent,        leased,        state,      alerts,
                                                    budget_count, session_count, entry_count};
  if (tenant) return families;
  prometheus::MetricFamily quarantined =
      Gauges("epsledger_ledgers_quarantined",
             "Ledgers that contradict what was acknowledged, and take no charges at this server.");
  Add(quarantined, {}, static_cast<double>(reader.QuarantinedLedgerCount()));
  prometheus::MetricFamily unproved =
      Gauges("epsledger_unproved_heads",
             "Heads that clients brought since the start, that the ledgers do not hold and that no "
             "server of these ledgers gave out.");
  Add(unproved, {}, static_cast<double>(reader.UnprovedHeadCount()));
  families.push_back(std::move(quarantined));
  families.push_back(std::move(unproved));
  return families;
}

prometheus::MetricFamily ReadyGauge(bool ready) {
  prometheus::MetricFamily family = Gauges("epsledger_ready", "1 if the ledger takes charges.");
  Add(family, {}, ready ? 1 : 0);
  return family;
}

}  // namespace epsledger::metrics
