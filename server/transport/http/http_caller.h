#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_

#include "absl/status/statusor.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// Returns the caller of the request: from its header "authorization", or else from the token in the
// cookie that LogIn set. PERMISSION_DENIED if the cookie came with a request from another site
// (IsFromAnotherSite): SameSite=Strict already prevents that, and this check covers browsers that
// do not support the attribute.
absl::StatusOr<HttpCaller> CallerOf(const HttpRequest& request);

// POST /v1/login {"token": "epsl_..."}: if the token is valid now, sets the cookie to a login of it
// (AccessService.CreateLogin). Scripts in the browser cannot read the cookie: HttpOnly,
// SameSite=Strict, and Secure except in plaintext on this machine. While the ledger is read-only no
// login can be created, and the cookie is the token itself.
void LogIn(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);
// POST /v1/logout: ends the login at the server, and clears the cookie in the browser.
void LogOut(RpcGateway& gateway, const HttpRequest& request, HttpReply reply);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_CALLER_H_
