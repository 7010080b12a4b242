#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_

#include "absl/status/statusor.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// Who makes the request: its header "authorization", or else the token in the cookie that LogIn
// set. PERMISSION_DENIED if the cookie came with a request that another site made
// (IsFromAnotherSite): SameSite=Strict already keeps it at home, and this holds where a browser
// does not know that attribute.
absl::StatusOr<HttpCaller> CallerOf(const HttpRequest& request);

// POST /v1/login {"token": "epsl_..."}: sets the cookie if the token is one that is valid now, so
// that a browser can keep it where scripts cannot read it: HttpOnly, SameSite=Strict, and Secure
// unless it is plaintext on this machine.
void LogIn(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);
// POST /v1/logout: clears it in the browser. The token itself goes on until it is revoked.
void LogOut(const HttpRequest& request, HttpReply reply);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_
