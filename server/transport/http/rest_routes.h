#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_REST_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_REST_ROUTES_H_

#include <string>
#include <vector>

#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// One bookmarkable GET: a path whose variables form one field of an RPC's request. The other fields
// of the request that are numbers, texts, durations ("3600s") or enum values are query parameters
// with their JSON names. A field of a nested message follows a dot:
// /v1/budgets/adult/guarantees?delta=1e-5, .../profile?epsilonRange.count=100.
struct RestRoute {
  // "/v1/budgets/{budget}/sessions/{session}"
  std::string path;
  // "epsledger.v1.SessionService.GetSession"
  std::string method;
  // The JSON name of the field that the path fills, without "/v1/" and without the part after the
  // last variable; empty if there is none.
  std::string path_field;
  std::string summary;
};

const std::vector<RestRoute>& RestRoutes();

// A query parameter: "delta", "epsilonRange.count".
struct QueryField {
  std::string name;
  const google::protobuf::FieldDescriptor* field;
};
// Returns all parameters of a route, except "format".
std::vector<QueryField> QueryFields(const RestRoute& route);

// Answers a path below /v1: JSON, or CSV with the parameter format=csv or the header
// "accept: text/csv".
//   404 none of RestRoutes has such a path
//   400 a parameter is unknown, given twice or of the wrong kind; otherwise the errors of the RPC.
void AnswerRest(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_REST_ROUTES_H_
