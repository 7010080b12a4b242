#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_NOT_IN_THIS_VERSION_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_NOT_IN_THIS_VERSION_H_

#include <string_view>

#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace epsledger::transport {

// Answers of methods that belong to the design and not to this version: UNIMPLEMENTED with `what`
// they will do, never a pretence. Requests are not looked at.
grpc::ServerUnaryReactor* UnaryNotInThisVersion(grpc::CallbackServerContext* context,
                                                std::string_view what);
grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamNotInThisVersion(std::string_view what);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_NOT_IN_THIS_VERSION_H_
