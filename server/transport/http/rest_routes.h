#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_REST_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_REST_ROUTES_H_

#include <string>
#include <vector>

#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// One bookmarkable GET: a path whose variables make up one field of an RPC's request. The other
// fields of the request that are numbers, texts, durations ("3600s") or enum values are parameters
// of the query, by their JSON names, those of a message in it after a dot:
// /v1/budgets/adult/guarantees?delta=1e-5,
// .../profile?epsilonRange.count=100.
struct RestRoute {
  // "/v1/budgets/{budget}/sessions/{session}"
  std::string path;
  // "epsledger.v1.SessionService.GetSession"
  std::string method;
  // The field that the path is of, without "/v1/" and without what follows the last variable, in
  // JSON; empty if there is none.
  std::string path_field;
  std::string summary;
};

const std::vector<RestRoute>& RestRoutes();

// A parameter of the query: "delta", "epsilonRange.count".
struct QueryField {
  std::string name;
  const google::protobuf::FieldDescriptor* field;
};
// All that a route takes, besides "format".
std::vector<QueryField> QueryFields(const RestRoute& route);

// Answers a path below /v1: JSON, or CSV with the parameter format=csv or the header
// "accept: text/csv".
//   404 none of RestRoutes has such a path
//   400 a parameter is unknown, given twice or not of its kind; otherwise the errors of the RPC.
void AnswerRest(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_REST_ROUTES_H_
