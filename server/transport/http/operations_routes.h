#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_

#include <memory>
#include <string>

#include "prometheus/registry.h"
#include "server/core/durable_ledger.h"
#include "server/transport/http/http_server.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// GET /metrics  Prometheus' text format: `registry` and the present state of the budgets.
// GET /healthz  200 while the process answers.
// GET /readyz   200 if a charge would be taken: the gRPC port answers (`probe_wire`), so do its
//               threads and the ledger's, and the ledger is healthy. Otherwise 503 with the reason.
// Any other path is 404, any other method 405. Callers are not identified: use this for an address
// that only operators can reach. REQUIRES: `ledger` outlives the server.
HttpHandler OperationsRoutes(core::DurableLedger& ledger,
                             std::shared_ptr<prometheus::Registry> registry,
                             decltype(InProcess::probe_wire) probe_wire);

// Answers GET /metrics for any caller. While access control is off, answers as above; otherwise
// only with the budgets of the caller's tenant, or with 401 if the caller is unknown. REQUIRES:
// `ledger` and `gateway` outlive the server.
void AnswerMetrics(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
                   RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

// Returns the operations of a server that has no ledger yet: /healthz is 200, and everything else
// is answered 503 with the reason.
HttpHandler WaitingRoutes(std::string reason);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_
