#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_

#include <memory>
#include <string>

#include "prometheus/registry.h"
#include "server/core/durable_ledger.h"
#include "server/transport/http/http_server.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// GET /metrics  Prometheus' text format: `registry` and the budgets as they are.
// GET /healthz  200 while the process answers.
// GET /readyz   200 if a charge would be taken: the port of gRPC answers (`probe_wire`), so do its
//               threads and the ledger's, and the ledger is well. Otherwise 503 with the reason.
// Anything else is 404, another method 405. Nobody is asked who they are: for an address that only
// operators reach. REQUIRES: `ledger` outlives the server.
HttpHandler OperationsRoutes(core::DurableLedger& ledger,
                             std::shared_ptr<prometheus::Registry> registry,
                             decltype(InProcess::probe_wire) probe_wire);

// GET /metrics for a caller, who may be anybody: where access control is off as above, otherwise
// the budgets of the caller's tenant alone, and 401 without a caller. REQUIRES: `ledger` and
// `gateway` outlive the server.
void AnswerMetrics(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
                   RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

// The operations of a server that has no ledger yet: /healthz is well, and everything else is
// answered 503 with the reason.
HttpHandler WaitingRoutes(std::string reason);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_
