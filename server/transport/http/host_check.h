#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HOST_CHECK_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HOST_CHECK_H_

#include <string>
#include <vector>

#include "server/transport/http/http_message.h"

namespace epsledger::transport {

// These two keep web pages of other sites away from a server that only this machine, or this
// network, can reach: such a page could call it without a token if it needs none.

// Returns true if the request names this server as its host. If the author of a page makes its own
// name resolve to 127.0.0.1 (DNS rebinding), the browser treats the page as part of the server's
// origin. But its requests name the author's host: so over plaintext a request that names a
// host, as browsers always do, must name an IP address, "localhost", a name without a dot (of a
// container; nobody else can register one), or one of `names`. TLS needs no such check: the server
// has no certificate for the author's name.
bool IsMeantForUs(const HttpRequest& request, const std::vector<std::string>& names);

// Returns true if the browser reports that a page of another origin made the request: by
// Sec-Fetch-Site or, if the browser does not send that header, by an Origin that differs from the
// Host.
bool IsFromAnotherSite(const HttpRequest& request);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HOST_CHECK_H_
