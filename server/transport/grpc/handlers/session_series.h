#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SESSION_SERIES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SESSION_SERIES_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/transport/grpc/calls/answer_cache.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// Epsilons, by the charged events and the question.
using SeriesCache = AnswerCache<v1::Guarantee>;
// Half a kilobyte each: a hundred charts.
inline constexpr size_t kMaxCachedSeriesPoints = 10'000;

// SessionService.GetSessionSeries: every point is a separate composition of what was charged up to
// it. Errors: INVALID_ARGUMENT, NOT_FOUND; UNAVAILABLE if too much is being computed. Cost: reads
// the session's charges once, one page between two commits; then one question to the accountant for
// each point that `cache` does not hold.
absl::Status GetSessionSeries(const HandlerContext& context, std::shared_ptr<SeriesCache> cache,
                              const v1::GetSessionSeriesRequest& request, const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_SESSION_SERIES_H_
