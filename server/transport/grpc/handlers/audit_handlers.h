#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// epsledger.v1.AuditService: the head and denials; the others are not in this version.
std::unique_ptr<grpc::Service> MakeAuditService(HandlerContext context);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_
