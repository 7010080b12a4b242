#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_

#include <memory>
#include <string>

#include "prometheus/registry.h"
#include "server/core/durable_ledger.h"
#include "server/transport/http/http_server.h"

namespace epsledger::transport {

// GET /metrics  Prometheus' text format: `registry` and the budgets as they are.
// GET /healthz  200 while the process answers.
// GET /readyz   200 while the ledger takes charges, otherwise 503 with the reason.
// Anything else is 404, another method 405. REQUIRES: `ledger` outlives the server.
HttpHandler OperationsRoutes(core::DurableLedger& ledger,
                             std::shared_ptr<prometheus::Registry> registry);

// The same of a server that has no ledger yet: /healthz is well, and everything else is answered
// 503 with the reason.
HttpHandler WaitingRoutes(std::string reason);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_OPERATIONS_ROUTES_H_
