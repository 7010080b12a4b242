#ifndef EPSLEDGER_ACCOUNTING_CALIBRATION_H_
#define EPSLEDGER_ACCOUNTING_CALIBRATION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/guarantee.h"
#include "accounting/question.h"

namespace epsledger::accounting {

// Answers a Calibrate query: `value` is the smallest noise multiplier, the largest count or the
// largest sampling probability of events[0] at which `answer_of` bounds what is spent by what is
// wanted: epsilon at the query's delta, mu, or the true positive rate at a false positive rate.
// `value` is on the safe side; `upper` is what is spent there (for the last, the rate).
//
// value is within 1e-9 of the edge of the bound (a count is exact) under accountants that answer to
// more digits than that. Under those that answer to question.relative_width (PLD, and BEST where it
// wins) it is within about relative_width of the true edge: most of the search then asks for a
// coarser width, and only its end for this one. Counts are searched up to 2^53, noise multipliers
// in [1e-9, 1e300], probabilities in [1e-15, 1].
//
// FAILED_PRECONDITION if no value there is enough; INVALID_ARGUMENT if events[0] has no such
// parameter; UNIMPLEMENTED if mu is wanted where it is known as an approximation only (it could not
// be on the safe side), except under CLT and MOMENTS_AS_PUBLISHED, whose every answer is one and
// says so; otherwise what answer_of returns. 10 to 60 calls of answer_of.
// REQUIRES: question is valid and its query a Calibrate.
absl::StatusOr<Guarantee> AnswerCalibration(
    const Question& question,
    absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> answer_of);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CALIBRATION_H_
