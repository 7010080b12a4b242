#ifndef EPSLEDGER_ACCOUNTING_RENYI_PRIVATE_SELECTION_H_
#define EPSLEDGER_ACCOUNTING_RENYI_PRIVATE_SELECTION_H_

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// Renyi divergence of running a mechanism K times and releasing the best outcome only, K from the
// truncated negative binomial law of `shape` eta > -1 (eta = 1 geometric, 0 logarithmic) and
// parameter gamma: [PS22] Thm 2,
//
//   D_a <= D^1_a + (1 + eta) (1 - 1/b) D^1_b + (1 + eta) log(1/gamma) / b + log(E K) / (a - 1)
//
// for any a > 1 and b >= 1, D^1 the divergence of one run in both directions. The outcomes are
// totally ordered and ties are broken without looking at the data. A search chooses the best b.
// Immutable, safe to share between threads.
class PrivateSelection {
 public:
  // mean = E K in [1, inf), shape in (-1, inf).
  PrivateSelection(absl::FunctionRef<double(double order)> one_run, double mean, double shape);

  // `one_run` is D^1_order. Returns an upper bound; one_run itself where mean is 1 (K = 1). The
  // bound of the theorem falls with the order at first and the divergence never does, so the least
  // of those at this order and at a grid of larger ones is taken: within 1% of the least of all.
  double Divergence(double order, double one_run) const;

 private:
  double AtOrder(double order, double one_run) const;

  double log_mean_;
  double constant_;  // (1 + eta) ((1 - 1/b) D^1_b + log(1/gamma) / b), rounded up
  std::vector<std::pair<double, double>> above_;  // orders, and the least bound there and beyond
};

// Returns log(1/gamma) of the law with this mean, rounded up: gamma solves
//   E K = eta (1/gamma - 1) / (1 - gamma^eta)   (eta = 0: (1/gamma - 1) / log(1/gamma)).
// Within 1e-9 relative. mean > 1.
double LogInverseGamma(double mean, double shape);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_PRIVATE_SELECTION_H_
