#include "server/transport/http/operations_routes.h"

#include <string>
#include <utility>
#include <vector>

#include "epsledger/v1/access_service.pb.h"
#include "prometheus/text_serializer.h"
#include "server/access/caller.h"
#include "server/metrics/budget_gauges.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "server/transport/http/http_caller.h"
#include "server/transport/http/json_answer.h"

namespace epsledger::transport {
namespace {

// The time for looking up the caller of /metrics, which waits for nothing.
constexpr absl::Duration kCallerPatience = absl::Seconds(5);
constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

HttpResponse MetricsText(const std::vector<prometheus::MetricFamily>& families) {
  return {200, kMetricsType, prometheus::TextSerializer().Serialize(families)};
}

void AnswerAllMetrics(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
                      HttpReply reply) {
  ledger.Read(core::Tenant{}, [&ledger, registry = std::move(registry), reply = std::move(reply)](
                                  absl::StatusOr<core::LedgerReader*> reader) mutable {
    // Shows the counters even if the ledger has stopped.
    std::vector<prometheus::MetricFamily> families = registry->Collect();
    if (reader.ok()) {
      for (prometheus::MetricFamily& family : metrics::ReadBudgetGauges(**reader)) {
        families.push_back(std::move(family));
      }
    }
    families.push_back(metrics::ReadyGauge(ledger.Health().ok()));
    std::move(reply)(MetricsText(families));
  });
}

void AnswerMetricsOf(core::DurableLedger& ledger, core::Tenant tenant, HttpReply reply) {
  ledger.Read(tenant, [&ledger, tenant, reply = std::move(reply)](
                          absl::StatusOr<core::LedgerReader*> reader) mutable {
    std::vector<prometheus::MetricFamily> families;
    if (reader.ok()) families = metrics::ReadBudgetGauges(**reader, tenant);
    families.push_back(metrics::ReadyGauge(ledger.Health().ok()));
    std::move(reply)(MetricsText(families));
  });
}

void AnswerReadiness(core::DurableLedger& ledger, const absl::Status& wire, HttpReply reply) {
  const absl::Status health = wire.ok() ? ledger.Health() : wire;
  if (!health.ok()) {
    return std::move(reply)({503, {}, std::string(health.message()) + "\n"});
  }
  // The turn of the ledger's thread.
  ledger.Read(core::Tenant{},
              [reply = std::move(reply)](absl::StatusOr<core::LedgerReader*> reader) mutable {
                if (reader.ok()) return std::move(reply)({200, {}, "ready\n"});
                std::move(reply)({503, {}, std::string(reader.status().message()) + "\n"});
              });
}

}  // namespace

HttpHandler OperationsRoutes(core::DurableLedger& ledger,
                             std::shared_ptr<prometheus::Registry> registry,
                             decltype(InProcess::probe_wire) probe_wire) {
  return [&ledger, registry = std::move(registry), probe_wire = std::move(probe_wire)](
             const HttpRequest& request, HttpReply reply) {
    const bool known =
        request.path == "/metrics" || request.path == "/healthz" || request.path == "/readyz";
    if (!known) return std::move(reply)({404, {}, "there is nothing here\n"});
    if (request.method != "GET") return std::move(reply)({405, {}, "only GET is answered here\n"});
    if (request.path == "/healthz") return std::move(reply)({200, {}, "ok\n"});
    if (request.path == "/metrics") return AnswerAllMetrics(ledger, registry, std::move(reply));
    probe_wire([&ledger, reply = std::move(reply)](const absl::Status& answers) mutable {
      AnswerReadiness(ledger, answers, std::move(reply));
    });
  };
}

void AnswerMetrics(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
                   RpcGateway& gateway, const HttpRequest& request, HttpReply reply) {
  if (request.method != "GET") return std::move(reply)({405, {}, "only GET is answered here\n"});
  const absl::StatusOr<HttpCaller> caller = CallerOf(request);
  if (!caller.ok()) return std::move(reply)(ErrorAnswer(ToGrpcStatus(caller.status())));
  const google::protobuf::MethodDescriptor* method =
      RpcGateway::FindUnaryMethod("epsledger.v1.AccessService.GetCaller");
  gateway.Call(
      *method, *RpcGateway::NewRequest(*method), *caller, kCallerPatience,
      [&ledger, registry = std::move(registry), reply = std::move(reply)](
          const grpc::Status& status, std::unique_ptr<google::protobuf::Message> message) mutable {
        if (!status.ok()) return std::move(reply)(ErrorAnswer(status));
        const auto& known = static_cast<const v1::Caller&>(*message);
        if (known.principal() == access::kAnybody) {
          return AnswerAllMetrics(ledger, std::move(registry), std::move(reply));
        }
        if (known.grants_size() > 0) {
          return std::move(reply)(
              HttpError(403, "permission_denied",
                        absl::StrCat("metrics are of the whole tenant; ", known.principal(),
                                     " is limited to a part of it")));
        }
        AnswerMetricsOf(ledger, core::Tenant{known.tenant()}, std::move(reply));
      });
}

HttpHandler WaitingRoutes(std::string reason) {
  return [reason = std::move(reason)](const HttpRequest& request, HttpReply reply) {
    if (request.path == "/healthz") return std::move(reply)({200, {}, "ok\n"});
    std::move(reply)({503, {}, reason + "\n"});
  };
}

}  // namespace epsledger::transport
