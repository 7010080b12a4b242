#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_ACCOUNTING_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_ACCOUNTING_HANDLERS_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// epsledger.v1.AccountingService: compute, compare and the two curves; auditing canaries is not in
// this version.
std::unique_ptr<grpc::Service> MakeAccountingService(HandlerContext context);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_ACCOUNTING_HANDLERS_H_
