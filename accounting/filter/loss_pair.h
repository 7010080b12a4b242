#ifndef EPSLEDGER_ACCOUNTING_FILTER_LOSS_PAIR_H_
#define EPSLEDGER_ACCOUNTING_FILTER_LOSS_PAIR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// An ordered pair of laws (P, Q) whose privacy loss L = log dP/dQ is a multiple of `interval` or
// infinite. The numbers below define the pair exactly, without rounding.
//
//   P[L = (first + i) interval] = masses[i],   Q of the same outcome = masses[i] e^-L,
//   P[L = inf] = 1 - sum masses,               Q[L = -inf] = 1 - sum masses[i] e^-L.
//
// Invariants (IsLossPair): interval in (0, 1] with at most 29 significant bits; |first|, |last| <
// 2^24; every mass is a multiple of 2^-100 in [0, 1]; both sums are at most 1.
struct LossPair {
  double interval = 0;
  int64_t first = 0;
  std::vector<double> masses;

  int64_t last() const { return first + static_cast<int64_t>(masses.size()) - 1; }
};

// True if the invariants hold. For pairs read from a file.
bool IsLossPair(const LossPair& pair);

// An upper bound on P[L = inf], off by one rounding. REQUIRES: IsLossPair(pair).
double InfinityMassOfP(const LossPair& pair);
// An upper bound on Q[L = -inf], off by 1e-17 at most. REQUIRES: IsLossPair(pair).
double InfinityMassOfQ(const LossPair& pair);

// Returns a pair (P, Q) on the lattice of `interval` with, for every e^epsilon > 0,
//
//   H(P||Q) >= profiles.remove,   H(Q||P) >= profiles.add,
//
// as far as a mechanism with these profiles can reach them: its H in one order at g < 1 is 1 - g +
// g H of the other order at 1/g, so the two profiles at epsilon >= 0 determine everything. The pair
// joins their values at lattice points by chords in e^epsilon ([DGKKM22] Alg 1), which are chords
// in e^-epsilon too. The function checks on the masses themselves that the pair's profiles are
// above at every vertex. Losses with a delta below e^log_tail are treated as infinite.
//
// RESOURCE_EXHAUSTED if more than max_points lattice points would be needed.
// REQUIRES: interval as in LossPair, log_tail < 0. Cost: one evaluation of a profile per point.
absl::StatusOr<LossPair> DominatingLossPair(const DirectedProfiles& profiles, double interval,
                                            double log_tail, int64_t max_points);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_FILTER_LOSS_PAIR_H_
