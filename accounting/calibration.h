#ifndef EPSLEDGER_ACCOUNTING_CALIBRATION_H_
#define EPSLEDGER_ACCOUNTING_CALIBRATION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/accountant.h"

namespace epsledger::accounting {

// Answers a Calibrate query: `value` is the smallest noise multiplier, the largest count or the
// largest sampling probability of events[0] at which `epsilon_of` (an upper bound on the epsilon of
// the question with that value, at the query's delta) is at most the wanted epsilon. `value` is on
// the safe side and within 1e-9 of the edge (a count is exact); `upper` is the epsilon there.
// Counts are searched up to 2^53, noise multipliers in [1e-9, 1e300], probabilities in [1e-15, 1].
// FAILED_PRECONDITION if no value there is enough; INVALID_ARGUMENT if events[0] has no such
// parameter; otherwise what epsilon_of returns. About 15 to 60 calls of epsilon_of.
// REQUIRES: question is valid and its query a Calibrate.
absl::StatusOr<Guarantee> AnswerCalibration(
    const Question& question,
    absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> epsilon_of);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CALIBRATION_H_
