#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SESSION_SERIES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SESSION_SERIES_H_

#include "absl/status/status.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// SessionService.GetSessionSeries: every point is a composition of its own of what was charged up
// to there. Status: INVALID_ARGUMENT, NOT_FOUND; UNAVAILABLE if too much is being computed. Cost:
// the session's charges are read once, a page between two commits; then one question to the
// accountant for each point.
absl::Status GetSessionSeries(const HandlerContext& context,
                              const v1::GetSessionSeriesRequest& request, const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SESSION_SERIES_H_
