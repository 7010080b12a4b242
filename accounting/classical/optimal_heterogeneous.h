#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_HETEROGENEOUS_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_HETEROGENEOUS_H_

// Optimal composition of (epsilon_i, delta_i)-DP mechanisms with different epsilon_i ([MV16]
// Thm 1.5). The exact answer is #P-complete ([MV16]), so it is computed by enumeration, and only
// where the enumeration is short. By [KOV15] Thm 3.1 the worst case is a product of randomized
// responses: with probability prod (1 - delta_i)^{n_i} the loss is sum epsilon_i (2 B_i - n_i), B_i
// independent binomials.

#include <optional>
#include <vector>

#include "accounting/classical/approximate_dp.h"
#include "accounting/classical/reveal.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// The largest number of values of (B_1, B_2, ...) that is enumerated: prod (n_i + 1) over distinct
// epsilon_i > 0.
inline constexpr double kLargestOutcomeCount = 200000;

// The finite losses of a composition, listed. Immutable, safe to share between threads.
class EnumeratedComposition {
 public:
  // nullopt for more than kLargestOutcomeCount outcomes, an epsilon_i above 700, a NaN or negative
  // parameter, or a count that is not an integer. O(outcomes) time and 40 bytes each.
  static std::optional<EnumeratedComposition> Create(const std::vector<CountedParameters>& events);

  // Bounds on log delta(epsilon) for every finite epsilon of either sign; -inf exactly where delta
  // is 0. Relative width of delta some 1e-13, except that losses are known to 2^-100 of their range
  // (exactly in most cases): an epsilon that close to a loss cannot be placed above or below it.
  // Cost: 10 ns per outcome, 60 ns per outcome above epsilon.
  Bounds LogDelta(double epsilon) const;

  // Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta, as OptimalEpsilon.
  Bounds Epsilon(double log_delta) const;

 private:
  // loss + loss_tail is the loss to loss_error_; |log P[outcome] - log_mass| <= error.
  struct Outcome {
    double loss;
    double loss_tail;
    double log_mass;
    double error;
  };

  ProfileValue ProfileAt(double epsilon) const;

  std::vector<Outcome> outcomes_;
  double loss_error_ = 0;
  double largest_loss_ = 0;  // rounded up
  Bounds log_keep_{0, 0};
};

// The two questions of OptimalLogDelta and OptimalEpsilon (optimal_homogeneous.h) for a history.
// One distinct epsilon_i > 0 is answered for every count, several by enumeration. nullopt where
// there are too many outcomes: a lattice then gives bounds from both sides.
std::optional<Bounds> OptimalLogDelta(const std::vector<CountedParameters>& events, double epsilon);
std::optional<Bounds> OptimalEpsilon(const std::vector<CountedParameters>& events,
                                     double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_HETEROGENEOUS_H_
