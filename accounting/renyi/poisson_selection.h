#ifndef EPSLEDGER_ACCOUNTING_RENYI_POISSON_SELECTION_H_
#define EPSLEDGER_ACCOUNTING_RENYI_POISSON_SELECTION_H_

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// Renyi divergence of running a mechanism K times and releasing the best outcome only, K a Poisson
// number of mean mu; where K is 0, something that does not depend on the data. For any a > 1,
//
//   D_a <= log(e^-mu + mu e^{(a-1) (D^1_a + mu delta)}) / (a - 1),
//
// D^1 the divergence of one run in both directions and delta its delta at epsilon = log(a / (a-1)),
// here from the divergences by [CKS20] Prop 12. This is [PS22] Thm 6 with the term e^-mu of K = 0
// added; the README has the proof. The outcomes are totally ordered and ties are broken without
// looking at the data. Immutable, safe to share between threads.
class PoissonSelection {
 public:
  // mean in (0, inf). Some 2,000 calls of one_run.
  PoissonSelection(absl::FunctionRef<double(double order)> one_run, double mean);

  // Returns an upper bound: the least of that at this order, which takes some 30 calls of one_run,
  // and of those at a grid of larger orders.
  double Divergence(double order, absl::FunctionRef<double(double order)> one_run) const;

 private:
  double AtOrder(double order, absl::FunctionRef<double(double order)> one_run) const;

  double mean_;
  std::vector<std::pair<double, double>> above_;  // orders, and the least bound there and beyond
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_POISSON_SELECTION_H_
