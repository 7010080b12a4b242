#ifndef EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_READING_H_
#define EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_READING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/guarantee.h"

namespace epsledger::accounting {

// Returns the sums of the functionals over a history, its mu and gamma ([DRS19] Thm 3.4):
// `central_limit`, and value = mu, which is an APPROXIMATION. With a type I error, lower <= f there
// <= upper is the Berry-Esseen band, which is a bound; where an event only declares its function
// (gaussianDp, pureDp), `upper` belongs to the declared function.
//
// UNIMPLEMENTED with the reason for an event without functionals, for groups, and for a band where
// gamma >= 1/2. An empty history has functionals 0 and f = 1 - alpha. O(events).
absl::StatusOr<Guarantee> ReadCentralLimit(const std::vector<Use>& uses, const Setting& setting,
                                           int64_t group_size,
                                           std::optional<double> type_one_error);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_READING_H_
