#ifndef EPSLEDGER_PROTO_CONVERT_ACCOUNTANT_READINGS_H_
#define EPSLEDGER_PROTO_CONVERT_ACCOUNTANT_READINGS_H_

// One history read by every accountant: the body of AccountingService.CompareAccountants, of
// `epsctl compare` and of a session's guarantees.

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/question.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/session_service.pb.h"

namespace epsledger::convert {

// Epsilon at `delta` of one history under every accountant: BASIC, ADVANCED, OPTIMAL, RENYI,
// MOMENTS, ZCDP, GAUSSIAN, CLT, PLD, TRADE_OFF, then BEST. Each reading holds a guarantee or the
// reason why there is none; an empty history reads 0.
// The two views of the moments accountant of one paper (MOMENTS_HOLDER, MOMENTS_AS_PUBLISHED) are
// left to a comparison and to who asks for them by name.
// Cost: the sum of the accountants', milliseconds for a few distinct events: not on a thread that
// others wait for.
// REQUIRES: events are valid, delta in (0, 1).
std::vector<v1::AccountantReading> ReadEveryAccountant(
    const std::vector<accounting::CountedEvent>& events, accounting::NeighboringRelation relation,
    double delta);

// The question that a comparison puts to every accountant, valid in the sense of
// accounting::Validate. INVALID_ARGUMENT names the field in proto3 JSON form.
absl::StatusOr<accounting::Question> ToQuestion(const v1::CompareAccountantsRequest& request);

// All thirteen accountants, BEST last, and the winner: whose upper bound is the smallest, and of
// equal ones that of BEST. BEST may stop at a bound within relative_width of it. Only an
// UPPER_BOUND wins, and nobody where BEST refuses: accountants that contradict each other have no
// winner. `abandoned` is asked before each accountant; when nobody waits any more the rest is left
// out, and the answer is CANCELLED. Cost: as ReadEveryAccountant. REQUIRES: `question` comes from
// ToQuestion.
absl::StatusOr<v1::CompareAccountantsResponse> CompareAccountants(
    accounting::Question question, absl::FunctionRef<bool()> abandoned);

}  // namespace epsledger::convert

#endif  // EPSLEDGER_PROTO_CONVERT_ACCOUNTANT_READINGS_H_
