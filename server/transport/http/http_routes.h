#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_ROUTES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "server/core/durable_ledger.h"
#include "server/transport/http/change_routes.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"
#include "server/transport/http/static_files.h"

namespace epsledger::transport {

struct HttpRoutesOptions {
  // Names of this server beside those that IsMeantForUs always takes.
  std::vector<std::string> host_names;
  // None: the program was built without.
  std::vector<StaticFile> dashboard;
};

// Everything that HTTP answers:
//   /healthz, /readyz                 OperationsRoutes, open to everybody who reaches the address
//   /metrics                          AnswerMetrics: of the caller's tenant
//   /openapi.json                     OpenApiDocument, likewise
//   /v1/login, /v1/logout             a token in a cookie
//   /v1/events                        ChangeRoutes
//   /v1/...                           AnswerRest
//   /epsledger.v1.Service/Method      AnswerConnect
//   /, /assets/...                    StaticFiles: the dashboard
// Anything else is 404. A request for another host (IsMeantForUs) is 421 everywhere, and any but a
// GET from a page of another site 403.
class HttpRoutes {
 public:
  // REQUIRES: `ledger` outlives it, and so does the server whose services they are.
  HttpRoutes(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
             InProcess services, HttpRoutesOptions options = {});

  // REQUIRES: this outlives the HttpServer.
  HttpHandler handler();

  // As RpcGateway::Drain, before the server that answers stops.
  void Drain(absl::Duration patience) { gateway_.Drain(patience); }

 private:
  void Answer(const HttpRequest& request, HttpReply reply);

  core::DurableLedger& ledger_;
  const std::shared_ptr<prometheus::Registry> registry_;
  const HttpHandler operations_;
  RpcGateway gateway_;
  ChangeRoutes events_;
  const std::vector<std::string> host_names_;
  const StaticFiles dashboard_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_ROUTES_H_
