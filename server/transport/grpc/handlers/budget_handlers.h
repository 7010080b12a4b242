#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_HANDLERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_HANDLERS_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// epsledger.v1.BudgetService: create, get and list; the others are not in this version.
std::unique_ptr<grpc::Service> MakeBudgetService(HandlerContext context);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_HANDLERS_H_
