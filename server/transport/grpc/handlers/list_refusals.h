#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_REFUSALS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_REFUSALS_H_

#include "absl/status/status.h"
#include "epsledger/v1/charge_service.pb.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// ChargeService.ListRefusals: refused charges and plans below a budget, newest first. Cost: reads
// one entry for each.
absl::Status ListRefusals(const HandlerContext& context, const v1::ListRefusalsRequest& request,
                          const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_REFUSALS_H_
