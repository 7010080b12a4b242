#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_ROUTES_H_

#include <memory>
#include <string>

#include "grpcpp/channel.h"
#include "prometheus/registry.h"
#include "server/core/durable_ledger.h"
#include "server/transport/http/event_routes.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// Everything that HTTP answers:
//   /metrics, /healthz, /readyz       OperationsRoutes, open to everybody who reaches the address
//   /openapi.json                     OpenApiDocument, likewise
//   /v1/login, /v1/logout             a token in a cookie
//   /v1/events                        EventRoutes
//   /v1/...                           AnswerRest
//   /epsledger.v1.Service/Method      AnswerConnect
// Anything else is 404.
class HttpRoutes {
 public:
  // REQUIRES: `ledger` outlives it, and so does the server whose in-process channel and pass they
  // are.
  HttpRoutes(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
             std::shared_ptr<grpc::Channel> channel, std::string in_process_pass);

  // REQUIRES: this outlives the HttpServer.
  HttpHandler handler();

 private:
  void Answer(const HttpRequest& request, HttpReply reply);

  const HttpHandler operations_;
  RpcGateway gateway_;
  EventRoutes events_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_ROUTES_H_
