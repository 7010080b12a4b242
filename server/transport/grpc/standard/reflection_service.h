#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_STANDARD_REFLECTION_SERVICE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_STANDARD_REFLECTION_SERVICE_H_

#include <string>
#include <vector>

#include "server/transport/grpc/calls/service_methods.h"

namespace epsledger::transport {

// The names of the reflection service: two versions that are the same on the wire.
inline constexpr const char* kReflectionServices[] = {"grpc.reflection.v1.ServerReflection",
                                                      "grpc.reflection.v1alpha.ServerReflection"};

// Adds reflection. It lists `services`, given by their full names, and serves every file from which
// this program was generated. It does not support extensions.
void AddReflectionService(const std::vector<std::string>& services, ServiceMethods& methods);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_STANDARD_REFLECTION_SERVICE_H_
