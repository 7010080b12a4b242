#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_OPENAPI_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_OPENAPI_H_

#include <string>

namespace epsledger::transport {

// Returns the OpenAPI 3.1 document of everything that HTTP answers, as JSON. The GETs of RestRoutes
// and the RPCs of RpcGateway::UnaryMethods, with the schemas of their messages, come from the
// descriptors; events, log-in, metrics and health are written by hand. The document is made once.
const std::string& OpenApiDocument();

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_OPENAPI_H_
