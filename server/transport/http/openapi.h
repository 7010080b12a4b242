#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_OPENAPI_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_OPENAPI_H_

#include <string>

namespace epsledger::transport {

// The OpenAPI 3.1 document of everything that HTTP answers, as JSON: the GETs of RestRoutes and the
// RPCs of RpcGateway::UnaryMethods with the schemas of their messages, from the descriptors;
// events, log-in, metrics and health by hand. Made once.
const std::string& OpenApiDocument();

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_OPENAPI_H_
