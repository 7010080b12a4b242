#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVER_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVER_HANDLERS_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "grpcpp/impl/service_type.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// What does not change while a server runs.
struct ServerFacts {
  std::string version;
  std::string storage;
  absl::Time start_time;
  std::string statement_public_key;
};

// epsledger.v1.ServerService.
// `methods` gets them; gRPC calls none, and shows them by reflection. REQUIRES: `methods` is let go
// of before what `context` refers to.
std::unique_ptr<grpc::Service> MakeServerService(HandlerContext context, ServerFacts facts,
                                                 UnaryMethods& methods);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SERVER_HANDLERS_H_
