#include "server/transport/http/operations_routes.h"

#include <string>
#include <utility>
#include <vector>

#include "prometheus/text_serializer.h"
#include "server/metrics/budget_gauges.h"

namespace epsledger::transport {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

void AnswerMetrics(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
                   HttpReply reply) {
  ledger.Read(core::Tenant{}, [&ledger, registry = std::move(registry), reply = std::move(reply)](
                                  absl::StatusOr<core::LedgerReader*> reader) mutable {
    // A ledger that has stopped still has counters to show.
    std::vector<prometheus::MetricFamily> families = registry->Collect();
    if (reader.ok()) {
      for (prometheus::MetricFamily& family : metrics::ReadBudgetGauges(**reader)) {
        families.push_back(std::move(family));
      }
    }
    families.push_back(metrics::ReadyGauge(ledger.Health().ok()));
    std::move(reply)({200, kMetricsType, prometheus::TextSerializer().Serialize(families)});
  });
}

}  // namespace

HttpHandler OperationsRoutes(core::DurableLedger& ledger,
                             std::shared_ptr<prometheus::Registry> registry) {
  return [&ledger, registry = std::move(registry)](const HttpRequest& request, HttpReply reply) {
    const bool known =
        request.path == "/metrics" || request.path == "/healthz" || request.path == "/readyz";
    if (!known) return std::move(reply)({404, {}, "there is nothing here\n"});
    if (request.method != "GET") return std::move(reply)({405, {}, "only GET is answered here\n"});
    if (request.path == "/healthz") return std::move(reply)({200, {}, "ok\n"});
    if (request.path == "/metrics") return AnswerMetrics(ledger, registry, std::move(reply));
    const absl::Status health = ledger.Health();
    if (health.ok()) return std::move(reply)({200, {}, "ready\n"});
    std::move(reply)({503, {}, std::string(health.message()) + "\n"});
  };
}

HttpHandler WaitingRoutes(std::string reason) {
  return [reason = std::move(reason)](const HttpRequest& request, HttpReply reply) {
    if (request.path == "/healthz") return std::move(reply)({200, {}, "ok\n"});
    std::move(reply)({503, {}, reason + "\n"});
  };
}

}  // namespace epsledger::transport
