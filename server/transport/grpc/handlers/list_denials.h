#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_DENIALS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_DENIALS_H_

#include "absl/status/status.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// AuditService.ListDenials: what was denied to callers of the tenant, newest first; on the first
// page also what is not recorded yet. Callers who are not known are those of the tenant without a
// name. A page may be short, or empty, and have another after it.
absl::Status ListDenials(const HandlerContext& context, const v1::ListDenialsRequest& request,
                         const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_DENIALS_H_
