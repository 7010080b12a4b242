#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_SESSION_READINGS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_SESSION_READINGS_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/transport/grpc/calls/answer_cache.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// Readings of one history, by its events and the question.
using ReadingCache = AnswerCache<v1::SessionReading>;
// A kilobyte each.
inline constexpr size_t kMaxCachedReadings = 10'000;

// SessionService.ListSessionReadings. Errors: INVALID_ARGUMENT, NOT_FOUND; UNAVAILABLE if too much
// is being computed. Cost: looks at every session of the list, a thousand between two commits; then
// composes each history of the page that `cache` does not hold.
absl::Status ListSessionReadings(const HandlerContext& context, std::shared_ptr<ReadingCache> cache,
                                 const v1::ListSessionReadingsRequest& request, const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_LIST_SESSION_READINGS_H_
