#ifndef EPSLEDGER_ACCOUNTING_AUDIT_TWO_ARM_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_TWO_ARM_H_

// The two-arm audit: one canary, many runs with it and many without. accounting/audit/README.md,
// "Audits".

#include <cstdint>

#include "absl/status/statusor.h"
#include "accounting/audit/audit_target.h"
#include "accounting/audit/canary_scores.h"

namespace epsledger::accounting {

// How often a test that was fixed before these runs answered "member".
struct TwoArmCounts {
  int64_t members = 0;
  int64_t true_positives = 0;
  int64_t non_members = 0;
  int64_t false_positives = 0;
};

// Counting 2^31 runs takes a minute; a larger number is a mistake.
inline constexpr int64_t kMaxAuditTrials = int64_t{1} << 31;

struct TwoArmAudit {
  // The rates: with probability >= confidence BOTH ends hold.
  double true_positive_rate_lower = 0;
  double false_positive_rate_upper = 1;
  // <= the smallest epsilon at which the mechanism is (epsilon, delta)-DP. No hypothesis.
  // Never +inf: no number of runs shows it.
  double epsilon_lower = 0;
  // <= the smallest mu at which the mechanism is mu-GDP. No hypothesis: every mu-GDP mechanism has
  // TPR <= 1 - G_mu(FPR) ([DRS19] Def 2.6).
  double mu_lower = 0;
  // <= the epsilon at delta of exactly mu_lower-GDP. A lower bound on the mechanism's epsilon ONLY
  // UNDER THE HYPOTHESIS that its trade-off function is Gaussian.
  double epsilon_lower_if_gaussian = 0;
};

// Returns the bounds of both rates, at half of the failure probability each ([CP34], union bound),
// and the results that follow from them:
//   TPR <= e^eps FPR + delta          gives eps >= log((TPR_lower - delta) / FPR_upper),
//   1 - FPR <= e^eps (1 - TPR) + delta gives eps >= log((1 - FPR_upper - delta) / (1 - TPR_lower)),
// so both sides use the same two bounds and need no further share of the failure probability;
//   mu >= Phi^-1(TPR_lower) - Phi^-1(FPR_upper).
// 0 where nothing is shown. Rounding is part of the bounds. Cost: 30 us at 1e5 runs.
// Status: INVALID_ARGUMENT names the field: counts in [1, 2^31], positives among them.
absl::StatusOr<TwoArmAudit> AuditTwoArms(const TwoArmCounts& counts, const AuditTarget& target);

// The number of an audit for which the threshold is chosen.
enum class AuditObjective : uint8_t { kEpsilon, kMu };

struct TwoArmScoreAudit {
  // The test answers "member" for scores >= threshold.
  double threshold = 0;
  // Counts of the scores that did not choose the threshold.
  TwoArmCounts counts;
  TwoArmAudit audit;
};

// A quarter of each arm, drawn by FixedShuffle, chooses the threshold that promises, by the rates
// of this quarter, the largest audit of the rest; the rest is audited at that threshold. The two
// parts are independent given which runs are in which, so no correction for the choice is due.
// (Halves choose as well but leave fewer runs to count: the choice needs the shape of two tails,
// the bound needs runs.) In both arms, scores equal to the threshold count as "member".
// Status: INVALID_ARGUMENT for NaN, for arms of fewer than 8 scores, and as AuditTwoArms.
// Cost: n log n, and 5 ms for the choice.
absl::StatusOr<TwoArmScoreAudit> AuditTwoArmScores(const CanaryScores& scores,
                                                   AuditObjective objective,
                                                   const AuditTarget& target);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_TWO_ARM_H_
