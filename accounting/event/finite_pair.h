#ifndef EPSLEDGER_ACCOUNTING_EVENT_FINITE_PAIR_H_
#define EPSLEDGER_ACCOUNTING_EVENT_FINITE_PAIR_H_

#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// A law whose sum is below 1 by this much at most is divided by its sum, as the rounding of its
// terms explains it. A law is divided by a sum above 1 too, as a law that was divided by a sum
// computed term by term has: by this much more than 1 at most.
inline constexpr double kSumRounding = 0x1p-48;
inline constexpr double kLargestExcess = 0x1p-40;

// Returns 1 - the sum of `probabilities`, off by one rounding and 1e-23. Negative if the sum is
// above 1. REQUIRES: at most 10,000 numbers in [0, 1], of a sum of at most 2.
double MissingMass(const std::vector<double>& probabilities);

// A pair (P, Q) of laws on finitely many outcomes, ordered by likelihood ratio. An outcome here
// stands for outcomes of the pair whose Q-masses sum to q within a factor of 1 +- e, each with a
// ratio P/Q of `ratio` within a factor of 1 +- e, e = relative_error. So with model(x) = sum q
// (ratio - x)_+, at every x > 0,
//
//   (1 - e)^2 model(x / (1 - e)) + only_p.lower <= H_x(P||Q)
//                                       <= (1 + e)^2 model(x / (1 + e)) + only_p.upper.
struct FinitePair {
  struct Outcome {
    double ratio;  // in [1e-290, 1e290]
    double q;      // in [1e-290, 1]
  };
  std::vector<Outcome> outcomes;  // ratios fall strictly
  // The mass under P of what Q does not have, and the reverse; the mass that is missing from a law
  // is in it. The upper ends hold the masses of tiny outcomes as well, if there are any: those with
  // a ratio or a q below 1e-290 are taken for two outcomes, one of P and one of Q.
  Bounds only_p{0, 0};
  Bounds only_q{0, 0};
  bool has_tiny = false;
  double relative_error = 0;

  // At least |log P/Q| of every outcome that both have and that is not tiny; 0 without any.
  double LargestLoss() const;
  // What is left for a delta beside it: the pair is (LargestLoss, Alone)-DP in both orders.
  double Alone() const { return only_p.upper > only_q.upper ? only_p.upper : only_q.upper; }
};

// Returns the pair of a dominatingPair event. REQUIRES: Validate(event) is OK. O(n log n).
FinitePair FinitePairOf(const DominatingPair& event);

// Returns the pair of `event` on a Poisson sample of this probability s in (0, 1): ((1-s) Q + s P,
// Q) for kRemove, (Q, (1-s) Q + s P) for kAdd.
FinitePair SampledFinitePairOf(const DominatingPair& event, double sampling_probability,
                               Adjacency direction);

// Returns the pair of a randomizedResponse whose record is replaced by nothing, which is answered
// by a uniform one of the values: P has the record, Q is uniform. REQUIRES: the event is valid.
FinitePair ResponseAgainstNothing(const RandomizedResponse& event, Adjacency direction);

// Returns (Q, P).
DominatingPair Reverse(const DominatingPair& event);

// True if (Q, P) is (P, Q) with its outcomes in another order, number by number.
bool IsItsOwnReverse(const DominatingPair& event);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_FINITE_PAIR_H_
