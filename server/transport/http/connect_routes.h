#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CONNECT_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CONNECT_ROUTES_H_

#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// Answers POST /epsledger.v1.ChargeService/Charge with a JSON body: every unary RPC in the Connect
// protocol (https://connectrpc.com/docs/protocol), derived from the descriptors. The body is the
// proto3 JSON of the request; unknown fields and enum values are refused. Errors are those of
// ErrorAnswer:
//   400 the body is not that JSON    404 no such method    405 not POST
//   415 the content is not application/json
// The header "connect-timeout-ms" sets how long the caller waits. A charge whose answer did not
// arrive in that time may have been made; repeating it with the same key shows the outcome.
void AnswerConnect(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

// Returns true if the path is that of an RPC: "/epsledger.v1.".
bool IsConnectPath(std::string_view path);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CONNECT_ROUTES_H_
