#ifndef EPSLEDGER_ACCOUNTING_AUDIT_CERTIFIED_TRADE_OFF_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_CERTIFIED_TRADE_OFF_H_

#include "absl/status/statusor.h"
#include "accounting/question.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {

// Returns the trade-off function that `history` certifies, for audits that try to contradict it: it
// is below the function of the history under its unordered relation, and is computed from the upper
// bounds of its profile at up to 400 epsilons. It is its own inverse, and immutable, so that an
// audit may read it a million times. `history.query` must be valid and is not answered; a direction
// (history.adjacency) is not allowed, since a canary may be added or removed.
// A history with a nonPrivate event certifies nothing: f = 0, which nothing contradicts.
// Status: as Answer; INVALID_ARGUMENT with a direction. Cost: 400 profile queries.
absl::StatusOr<TradeOffFunction> CertifiedTradeOff(const Question& history);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_CERTIFIED_TRADE_OFF_H_
