#ifndef EPSLEDGER_PROTO_BRIDGE_ACCOUNTANT_READINGS_H_
#define EPSLEDGER_PROTO_BRIDGE_ACCOUNTANT_READINGS_H_

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

namespace epsledger::bridge {

// Returns epsilon at `delta` of one history under every accountant: BASIC, ADVANCED, OPTIMAL,
// RENYI, MOMENTS, ZCDP, GAUSSIAN, CLT, PLD, TRADE_OFF, then BEST. Each reading holds a guarantee or
// the reason why there is none; an empty history reads 0.
// Leaves out the two variants of one paper's moments accountant (MOMENTS_HOLDER,
// MOMENTS_AS_PUBLISHED), which CompareAccountants and requests by name include.
// Cost: the sum over the accountants, milliseconds for a few distinct events. Do not call it on a
// thread that others wait for.
// REQUIRES: events are valid, delta in (0, 1).
std::vector<v1::AccountantReading> ReadEveryAccountant(
    const std::vector<accounting::CountedEvent>& events, accounting::NeighboringRelation relation,
    double delta);

// Returns the question that a comparison asks every accountant, valid in the sense of
// accounting::Validate. INVALID_ARGUMENT names the field in proto3 JSON form.
absl::StatusOr<accounting::Question> ToQuestion(const v1::CompareAccountantsRequest& request);

// Returns the readings of all thirteen accountants, BEST last, and the winner: the accountant with
// the smallest upper bound, and among equal ones the winner of BEST. BEST may stop at a bound
// within relative_width of the smallest. Only an UPPER_BOUND wins. There is no winner if BEST
// refuses, because accountants that contradict each other have none. Calls `abandoned` before each
// accountant; when it returns true, skips the rest and returns CANCELLED. Cost: as
// ReadEveryAccountant. REQUIRES: `question` comes from ToQuestion.
absl::StatusOr<v1::CompareAccountantsResponse> CompareAccountants(
    accounting::Question question, absl::FunctionRef<bool()> abandoned);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_ACCOUNTANT_READINGS_H_
