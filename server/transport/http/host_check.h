#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HOST_CHECK_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HOST_CHECK_H_

#include <string>
#include <vector>

#include "server/transport/http/http_message.h"

namespace epsledger::transport {

// These two keep web pages of others out of a server that only this machine, or this network,
// reaches: they could call it without a token where none is wanted.

// True if the request names a host that is this server. A page whose author makes its own name
// resolve to 127.0.0.1 (DNS rebinding) is of the server's origin to the browser. Its requests say
// the author's name, though: so over plaintext a request must name an IP address, "localhost", a
// name without a dot (of a container; nobody else can register one), or one of `names`. TLS needs
// no such check: the author has no certificate that the server would show.
bool IsMeantForUs(const HttpRequest& request, const std::vector<std::string>& names);

// True if a browser says that a page of another origin made the request: by Sec-Fetch-Site, or
// where it knows none, by an Origin that is not the Host.
bool IsFromAnotherSite(const HttpRequest& request);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HOST_CHECK_H_
