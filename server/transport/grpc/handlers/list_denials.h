#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_DENIALS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_DENIALS_H_

#include "absl/status/status.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// AuditService.ListDenials: the denials of callers of the tenant, newest first; the first page also
// contains those that are not recorded yet. Denials of unknown callers belong to the tenant without
// a name. A page may be short or empty although another one follows.
absl::Status ListDenials(const HandlerContext& context, const v1::ListDenialsRequest& request,
                         const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_DENIALS_H_
