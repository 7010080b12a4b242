#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_LEDGER_SERVICES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_LEDGER_SERVICES_H_

#include <vector>

#include "google/protobuf/descriptor.h"

namespace epsledger::transport {

// Returns the services of epsledger.v1 that a server has. This is the only list, for gRPC, HTTP and
// reflection.
const std::vector<const google::protobuf::ServiceDescriptor*>& LedgerServices();

// Returns all their methods, in that order.
const std::vector<const google::protobuf::MethodDescriptor*>& LedgerMethods();

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_LEDGER_SERVICES_H_
