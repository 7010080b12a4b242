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
  // Names of this server besides those that IsMeantForUs always accepts.
  std::vector<std::string> host_names;
  // Empty: the program was built without it.
  std::vector<StaticFile> dashboard;
};

// Everything that HTTP answers:
//   /healthz, /readyz                 OperationsRoutes, open to everybody who can reach the address
//   /metrics                          AnswerMetrics: for the caller's tenant
//   /openapi.json                     OpenApiDocument, likewise
//   /v1/login, /v1/logout             a token in a cookie
//   /v1/events                        ChangeRoutes
//   /v1/...                           AnswerRest
//   /epsledger.v1.Service/Method      AnswerConnect
//   /, /assets/...                    StaticFiles: the dashboard
// Anything else is 404. A request for another host (IsMeantForUs) is 421 everywhere. A request from
// a page of another site is 403 unless it is a GET.
class HttpRoutes {
 public:
  // REQUIRES: `ledger` and the server that has `services` outlive this object.
  HttpRoutes(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
             InProcess services, HttpRoutesOptions options = {});

  // REQUIRES: this outlives the HttpServer.
  HttpHandler handler();

  // Does RpcGateway::Drain. Must be called before the server that answers stops.
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
