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

// POST /v1/login {"token": "epsl_..."}: sets the cookie to a login of the token (AccessService.
// CreateLogin), if it is valid now, so that a browser can keep it where scripts cannot read it:
// HttpOnly, SameSite=Strict, and Secure unless it is plaintext on this machine. While the ledger
// can only be read there are no new logins, and the cookie is the token itself.
void LogIn(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);
// POST /v1/logout: ends the login at the server, and clears the cookie in the browser.
void LogOut(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_
