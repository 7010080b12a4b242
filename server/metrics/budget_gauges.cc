#include "server/metrics/budget_gauges.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

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

// Ids of a tenant's budgets are "tenant/id".
std::vector<prometheus::ClientMetric::Label> LabelsOf(const std::string& budget_id) {
  const size_t slash = budget_id.find('/');
  if (slash == std::string::npos) return {{"tenant", ""}, {"budget", budget_id}};
  return {{"tenant", budget_id.substr(0, slash)}, {"budget", budget_id.substr(slash + 1)}};
}

}  // namespace

std::vector<prometheus::MetricFamily> ReadBudgetGauges(core::LedgerReader& reader) {
  prometheus::MetricFamily spent =
      Gauges("epsledger_budget_spent_ratio", "Share of the cap that is spent, rounded up.");
  prometheus::MetricFamily alerts =
      Gauges("epsledger_budget_alerts", "Alert thresholds of the budget that are passed.");
  std::set<const core::Ledger*> ledgers;
  for (const std::string& id : reader.BudgetIds("", kMaxBudgetGauges)) {
    const core::Ledger* ledger = reader.LedgerOf(id);
    ledgers.insert(ledger);
    const core::BudgetState& budget = *ledger->FindBudget(id);
    const double ratio = budget.balance.SpentFraction();
    Add(spent, LabelsOf(id), ratio);
    const std::vector<double>& thresholds = budget.description.alert_thresholds;
    Add(alerts, LabelsOf(id),
        static_cast<double>(
            std::count_if(thresholds.begin(), thresholds.end(),
                          [ratio](double threshold) { return ratio >= threshold; })));
  }
  int64_t budgets = 0;
  int64_t sessions = 0;
  int64_t entries = 0;
  for (const core::Ledger* ledger : ledgers) {
    budgets += static_cast<int64_t>(ledger->budgets().size());
    sessions += ledger->session_count();
    entries += ledger->head().sequence;
  }
  prometheus::MetricFamily budget_count = Gauges("epsledger_budgets", "Budgets of all tenants.");
  Add(budget_count, {}, static_cast<double>(budgets));
  prometheus::MetricFamily session_count = Gauges("epsledger_sessions", "Sessions of all tenants.");
  Add(session_count, {}, static_cast<double>(sessions));
  prometheus::MetricFamily entry_count =
      Gauges("epsledger_ledger_entries", "Entries of all ledgers.");
  Add(entry_count, {}, static_cast<double>(entries));
  return {spent, alerts, budget_count, session_count, entry_count};
}

}  // namespace epsledger::metrics
