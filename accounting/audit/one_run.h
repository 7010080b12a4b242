#ifndef EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_H_

// The one-run audit of (epsilon, delta)-DP: many canaries, each in the data set with probability
// 1/2 independently of the others; one run; guesses about which canaries were in ([SNJ23]).
// accounting/audit/README.md, "Audits".

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/audit/audit_target.h"
#include "accounting/audit/canary_scores.h"

namespace epsledger::accounting {

struct OneRunCounts {
  // The number of canaries whose inclusion was drawn.
  int64_t canaries = 0;
  // The attack guesses "in" or "out" for at most this many canaries, a number fixed before the run.
  // It abstains from the others.
  int64_t guesses = 0;
  // The number of right guesses.
  int64_t correct = 0;
};

inline constexpr int64_t kMaxOneRunCanaries = 1'000'000;

// INVALID_ARGUMENT names the field: 0 <= correct <= guesses <= canaries in [1, 10^6].
absl::Status Validate(const OneRunCounts& counts);

// Returns >= P[at least `correct` right guesses] for any mechanism that is (epsilon, delta)-DP
// under adding or removing one canary ([SNJ23] Thm 5.2): with B ~ Bin(guesses, e^eps / (1 +
// e^eps)),
//   P[B >= v] + 2 m delta max_{1<=i<=v} P[B >= v - i] / i.
// The theorem has P[v > B >= v - i] in the second term. The difference adds at most 2 m delta P[B
// >= v] and makes the sum non-decreasing in epsilon, so that the rejected epsilons form an
// interval. At most 1. epsilon >= 0; NaN gives 1.
// REQUIRES: Validate(counts) is OK, delta in [0, 1]. Cost: at most `correct` terms of 5 ns.
double OneRunPValue(const OneRunCounts& counts, double epsilon, double delta);

// Returns <= the smallest epsilon at which the mechanism is (epsilon, delta)-DP, with probability
// >= target.confidence: the largest epsilon found with OneRunPValue <= 1 - confidence, 0 if there
// is none. Tight to 1e-9 relative. Cost: 60 p-values.
// Status: INVALID_ARGUMENT as Validate.
absl::StatusOr<double> OneRunEpsilonLowerBound(const OneRunCounts& counts,
                                               const AuditTarget& target);

// Half of the `guesses` guesses are "in" for the highest scores and half are "out" for the lowest;
// if the number is odd, "in" gets one more. Canaries with equal scores are guessed alike or not at
// all: a half that would end among them ends before them, and takes them all if that leaves no more
// than `guesses`. Guesses that are not made count as wrong: a guesser that orders ties by a coin
// has at least as many right, so the theorem holds for these counts, and the order of ties does not
// decide what is proved. Validates the scores, and guesses in [1, number of scores].
absl::StatusOr<OneRunCounts> CountGuesses(const CanaryScores& scores, int64_t guesses);

// Returns the numbers of guesses to try if no number was fixed before the run: all canaries, a
// quarter, a sixteenth and a 64th, as far as these are at least 1. Each number then gets its share
// of the failure probability.
std::vector<int64_t> DefaultGuesses(int64_t canaries);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_H_
