#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_

#include <memory>
#include <string>

#include "grpcpp/impl/service_type.h"
#include "server/statement/signing_key.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// epsledger.v1.AuditService: all of it. Privacy statements are signed by `key` and name
// `server_version`.
std::unique_ptr<grpc::Service> MakeAuditService(HandlerContext context,
                                                std::shared_ptr<const statement::SigningKey> key,
                                                std::string server_version);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_AUDIT_HANDLERS_H_
