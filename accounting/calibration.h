#ifndef EPSLEDGER_ACCOUNTING_CALIBRATION_H_
#define EPSLEDGER_ACCOUNTING_CALIBRATION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/guarantee.h"
#include "accounting/question.h"

namespace epsledger::accounting {

// Answers a Calibrate query: `value` is the smallest noise multiplier (of a discreteGaussian the
// smallest sigma, of a discreteLaplace the largest noise_parameter), the largest count or the
// largest sampling probability of events[0] at which the upper bound from `answer_of` is at most
// the target: epsilon at the query's delta, mu, or the true positive rate at a false positive rate.
// `value` is on the safe side; `upper` is what the history spends there (for the last target, the
// true positive rate).
//
// value is within 1e-9 of the edge of the bound (a count is exact) under accountants that answer to
// more digits than that. Under accountants that answer to question.relative_width (PLD, and BEST
// where PLD wins) it is within about relative_width of the true edge: most of the search asks for a
// coarser width, and only its end asks for relative_width. Counts are searched up to 2^53, noise
// multipliers and sigma in [1e-9, 1e300], a noise_parameter in [1e-300, 1e9], probabilities in
// [1e-15, 1].
//
// FAILED_PRECONDITION if no value in that range is enough; INVALID_ARGUMENT if events[0] has no
// such parameter; UNIMPLEMENTED if the target is mu and mu is known as an approximation only (it
// could not be on the safe side), except under CLT and MOMENTS_AS_PUBLISHED, where every answer is
// an approximation and is labeled as one; otherwise what answer_of returns. Calls answer_of 10 to
// 60 times.
// REQUIRES: question is valid and its query a Calibrate.
absl::StatusOr<Guarantee> AnswerCalibration(
    const Question& question,
    absl::FunctionRef<absl::StatusOr<Guarantee>(const Question&)> answer_of);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CALIBRATION_H_
