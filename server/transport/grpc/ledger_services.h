#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_LEDGER_SERVICES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_LEDGER_SERVICES_H_

#include <vector>

#include "google/protobuf/descriptor.h"

namespace epsledger::transport {

// The services of epsledger.v1 that a server has: the one list of them, for gRPC, HTTP and
// reflection.
const std::vector<const google::protobuf::ServiceDescriptor*>& LedgerServices();

// Every method of them, in that order.
const std::vector<const google::protobuf::MethodDescriptor*>& LedgerMethods();

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_LEDGER_SERVICES_H_
