#ifndef EPSLEDGER_ACCOUNTING_RENYI_DIVERGENCES_H_
#define EPSLEDGER_ACCOUNTING_RENYI_DIVERGENCES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/numeric/abandoned.h"

namespace epsledger::accounting {

// The Renyi divergences of a whole history, as a function of the order: an upper bound for every
// pair of data sets at distance group_size in both directions, or in the one direction that the
// setting selects.
//
// An (epsilon, delta)-DP event has no finite divergence; it is split into its delta and an
// epsilon-DP part ([KOV15] Thm 3.1; README, "Approximate-DP parts"), so that
//   delta(history, epsilon) <= delta_sum() + delta(the rest, epsilon).
//
// Groups: Gaussian events move k times as far, epsilon-DP and bounded-range events have k epsilon,
// (epsilon, delta)-DP events the group's pair, zCDP k^2 rho; every other curve goes through
// GroupRenyi. Immutable, safe to share between threads.
class RenyiDivergences {
 public:
  // UNIMPLEMENTED with the reason for an event whose divergence is not proved here; `asked_by` is
  // named in the message. The result does not borrow from `uses`. group_size >= 1. Cost: sampled
  // events other than Gaussians on a Poisson sample tabulate moments, some milliseconds each.
  // CANCELLED soon after `abandoned` returns true.
  static absl::StatusOr<RenyiDivergences> Create(
      const std::vector<Use>& uses, const Setting& setting,
      Accountant asked_by = Accountant::kRenyi, int64_t group_size = 1,
      absl::FunctionRef<bool()> abandoned = NeverAbandoned);

  // Returns D >= the divergence of the part without delta, order in [1, inf). In [0, +inf]. Order
  // 1, the Kullback-Leibler divergence, is at most that of any larger one ([vEH14] Thm 3). Returns
  // +inf soon after `abandoned` returns true.
  double Divergence(double order, absl::FunctionRef<bool()> abandoned = NeverAbandoned) const;
  // Sum of the deltas split off, rounded up.
  double delta_sum() const { return delta_sum_; }

 private:
  friend class RenyiDivergencesBuilder;
  struct Term {
    std::function<double(double order)> divergence;
    double count;
  };

  double half_mu_squared_ = 0;  // of all parts whose divergence is order * constant
  double constant_ = 0;         // of all parts whose divergence is constant
  double delta_sum_ = 0;
  std::vector<Term> terms_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_DIVERGENCES_H_
