#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_READINGS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_READINGS_H_

// What budgets were charged, and when. The ledger's thread copies histories and counts; the
// mathematics runs on the computation pool. Errors: INVALID_ARGUMENT, NOT_FOUND; UNAVAILABLE if too
// much is being computed.

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "epsledger/v1/budget_service.pb.h"
#include "server/transport/grpc/calls/answer_cache.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// Readings of one history, by its events and the question.
using BudgetReadingCache = AnswerCache<v1::BudgetReading>;
// A kilobyte each.
inline constexpr size_t kMaxCachedBudgetReadings = 1'000;

// BudgetService.GetBudgetGuarantees. Cost: one composition for each accountant.
absl::Status GetBudgetGuarantees(const HandlerContext& context,
                                 const v1::GetBudgetGuaranteesRequest& request, const Call& call);
// BudgetService.GetBudgetActivity.
absl::Status GetBudgetActivity(const HandlerContext& context,
                               const v1::GetBudgetActivityRequest& request, const Call& call);
// BudgetService.ListBudgetReadings. Cost: copies the histories below each budget of the page, a few
// budgets between two commits; then composes those that `cache` does not hold.
absl::Status ListBudgetReadings(const HandlerContext& context,
                                std::shared_ptr<BudgetReadingCache> cache,
                                const v1::ListBudgetReadingsRequest& request, const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_READINGS_H_
