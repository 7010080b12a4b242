#include "server/transport/http/http_routes.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "server/transport/http/connect_routes.h"
#include "server/transport/http/host_check.h"
#include "server/transport/http/http_caller.h"
#include "server/transport/http/openapi.h"
#include "server/transport/http/operations_routes.h"
#include "server/transport/http/rest_routes.h"

namespace epsledger::transport {
namespace {

void AnswerOpenApi(const HttpRequest& request, HttpReply reply) {
  if (request.method != "GET") {
    return std::move(reply)(HttpError(405, "unimplemented", "only GET is answered here"));
  }
  HttpResponse response;
  response.content_type = "application/json";
  response.body = OpenApiDocument();
  std::move(reply)(std::move(response));
}

}  // namespace

HttpRoutes::HttpRoutes(core::DurableLedger& ledger, std::shared_ptr<prometheus::Registry> registry,
                       InProcess services, HttpRoutesOptions options)
    : ledger_(ledger),
      registry_(std::move(registry)),
      operations_(OperationsRoutes(ledger, registry_, services.probe_wire)),
      gateway_(std::move(services)),
      events_(gateway_, ledger),
      host_names_(std::move(options.host_names)),
      dashboard_(options.dashboard) {}

HttpHandler HttpRoutes::handler() {
  return [this](const HttpRequest& request, HttpReply reply) { Answer(request, std::move(reply)); };
}

void HttpRoutes::Answer(const HttpRequest& request, HttpReply reply) {
  if (!IsMeantForUs(request, host_names_)) {
    return std::move(reply)(HttpError(
        421, "permission_denied",
        "the request names another host: over plaintext this server answers to IP addresses, "
        "localhost, names without a dot, and those of --http-host"));
  }
  if (request.method != "GET" && IsFromAnotherSite(request)) {
    return std::move(reply)(
        HttpError(403, "permission_denied", "a page of another site may not send this request"));
  }
  if (dashboard_.Has(request.path)) return std::move(reply)(dashboard_.Answer(request));
  if (request.path == "/") {
    return std::move(reply)(
        HttpError(404, "not_found",
                  "this server was built without the dashboard (its build found no Node.js)"));
  }
  if (IsConnectPath(request.path)) return AnswerConnect(gateway_, request, std::move(reply));
  if (request.path == "/openapi.json") return AnswerOpenApi(request, std::move(reply));
  if (request.path == "/v1/events") return events_.Answer(request, std::move(reply));
  const bool logs = request.path == "/v1/login" || request.path == "/v1/logout";
  if (logs && request.method != "POST") {
    return std::move(reply)(HttpError(405, "unimplemented", "only POST is answered here"));
  }
  if (request.path == "/v1/login") return LogIn(gateway_, request, std::move(reply));
  if (request.path == "/v1/logout") return LogOut(gateway_, request, std::move(reply));
  if (absl::StartsWith(request.path, "/v1/")) {
    return AnswerRest(gateway_, request, std::move(reply));
  }
  if (request.path == "/metrics") {
    return AnswerMetrics(ledger_, registry_, gateway_, request, std::move(reply));
  }
  operations_(request, std::move(reply));
}

}  // namespace epsledger::transport
