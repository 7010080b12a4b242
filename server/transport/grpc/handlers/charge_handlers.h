#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_HANDLERS_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// epsledger.v1.ChargeService.
// `methods` gets those of one answer; the service is what gRPC calls: methods with streams.
// REQUIRES: `methods` and the service are let go of before what `context` refers to.
std::unique_ptr<grpc::Service> MakeChargeService(HandlerContext context, UnaryMethods& methods);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_HANDLERS_H_
