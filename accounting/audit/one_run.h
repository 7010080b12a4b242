#ifndef EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_H_

// The one-run audit of (epsilon, delta)-DP: many canaries, each in the data set with probability
// 1/2 on its own, one run, guesses which were in ([SNJ23]). accounting/audit/README.md, "Audits".

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/audit/audit_target.h"
#include "accounting/audit/canary_scores.h"

namespace epsledger::accounting {

struct OneRunCounts {
  // Canaries whose inclusion was drawn.
  int64_t canaries = 0;
  // The attack says "in" or "out" of at most so many canaries, a number fixed before the run. It
  // abstains from the others.
  int64_t guesses = 0;
  // How many of the guesses were right.
  int64_t correct = 0;
};

inline constexpr int64_t kMaxOneRunCanaries = 1'000'000;

// INVALID_ARGUMENT names the field: 0 <= correct <= guesses <= canaries in [1, 10^6].
absl::Status Validate(const OneRunCounts& counts);

// Returns >= P[at least `correct` right guesses] of any mechanism that is (epsilon, delta)-DP under
// adding or removing one canary ([SNJ23] Thm 5.2): with B ~ Bin(guesses, e^eps / (1 + e^eps)),
//   P[B >= v] + 2 m delta max_{1<=i<=v} P[B >= v - i] / i.
// The theorem has P[v > B >= v - i] in the second term; what is added there is at most
// 2 m delta P[B >= v], and makes the whole non-decreasing in epsilon, so that the epsilons that are
// rejected form an interval. At most 1. epsilon >= 0; NaN gives 1.
// REQUIRES: Validate(counts) is OK, delta in [0, 1]. Cost: at most `correct` terms of 5 ns.
double OneRunPValue(const OneRunCounts& counts, double epsilon, double delta);

// Returns <= the smallest epsilon at which the mechanism is (epsilon, delta)-DP, with probability
// >= target.confidence: the largest epsilon found with OneRunPValue <= 1 - confidence, 0 if there
// is none. Tight to 1e-9 relative. Cost: 60 p-values.
// Status: INVALID_ARGUMENT as Validate.
absl::StatusOr<double> OneRunEpsilonLowerBound(const OneRunCounts& counts,
                                               const AuditTarget& target);

// Half of `guesses` guesses say "in" of the highest scores and half say "out" of the lowest; one
// more says "in" if the number is odd. Canaries with one score are guessed alike or not at all: a
// half that would end among them ends before them, and takes them all if that leaves no more than
// `guesses`. What is not guessed counts as wrong: a guesser that orders ties by a coin has as many
// right, so the theorem holds of these counts, and no order of ties decides what is proved.
// Validates the scores, and guesses in [1, number of scores].
absl::StatusOr<OneRunCounts> CountGuesses(const CanaryScores& scores, int64_t guesses);

// How many guesses to try where nobody said before the run: all canaries, a quarter, a sixteenth
// and a 64th, as far as those are at least 1. Each then gets its share of the failure probability.
std::vector<int64_t> DefaultGuesses(int64_t canaries);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_ONE_RUN_H_
