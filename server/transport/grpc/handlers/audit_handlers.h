#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_

#include <memory>
#include <string>

#include "grpcpp/impl/service_type.h"
#include "server/statement/signing_key.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// epsledger.v1.AuditService. Privacy statements are signed by `key` and name
// `server_version`.
// `methods` gets those of one answer; the service is what gRPC calls: methods with streams.
// REQUIRES: `methods` and the service are let go of before what `context` refers to.
std::unique_ptr<grpc::Service> MakeAuditService(HandlerContext context,
                                                std::shared_ptr<const statement::SigningKey> key,
                                                std::string server_version, UnaryMethods& methods);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_
