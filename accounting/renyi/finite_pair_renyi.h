#ifndef EPSLEDGER_ACCOUNTING_RENYI_FINITE_PAIR_RENYI_H_
#define EPSLEDGER_ACCOUNTING_RENYI_FINITE_PAIR_RENYI_H_

#include <vector>

#include "accounting/event/finite_pair.h"

namespace epsledger::accounting {

// The Renyi divergence of a pair of laws on finitely many outcomes, outcome by outcome, after what
// one law has alone is set aside as a delta (README, "A pair of laws given as numbers"):
//   H(P||Q) <= delta() + (1 - delta()) H(P'||Q'),   D_a(P'||Q') <= Divergence(a),
// P', Q' the laws given that the outcome is one that both have. The same delta() serves (Q, P).
// Immutable, safe to share between threads.
class FinitePairRenyi {
 public:
  explicit FinitePairRenyi(const FinitePair& pair);

  // In [0, 1], rounded up; 1 if the laws have no outcome in common.
  double delta() const { return delta_; }
  // order in [1, +inf]: 1 is the Kullback-Leibler divergence, +inf the largest loss. Within 1e-12
  // of the sum and the moves of P and Q by FinitePair::relative_error. Linear in the outcomes.
  double Divergence(double order) const;

 private:
  struct Outcome {
    double p;     // rounded up
    double loss;  // log P'/Q', pushed away from 0 by its error
  };

  std::vector<Outcome> outcomes_;
  double delta_;
  double largest_loss_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_FINITE_PAIR_RENYI_H_
