#ifndef EPSLEDGER_ACCOUNTING_RENYI_POISSON_SAMPLED_H_
#define EPSLEDGER_ACCOUNTING_RENYI_POISSON_SAMPLED_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Renyi divergence of any mechanism on a Poisson sample, from the mechanism's own divergences
// D_a (in both directions), under add-or-remove-one. q in (0, 1). Sources: README, "Poisson
// sampling of any mechanism".
//
// Remove, integer a: M <= sum_k C(a,k) (1-q)^{a-k} q^k e^{(k-1) D_k}, exact if the mechanism
// attains its D_k; between integers by the chord of (a-1) D_a.
// Add, any real a: M <= 1 + C_0 (e^{D_2} - 1) and M <= 1 + C_t (e^{D_2} - 1) + C_0 t^{k-1} e^{(k-1)
// D_k} for t in (0, 1), k > 1, C_t = ((1 + y)^{1-a} - 1 + (a-1) y) / (1-t)^2, y = -q (1-t); and no
// more than remove where an involution of the outcomes exchanges the pair, which the caller
// asserts. Both: M <= 1 - q + q e^{(a-1) D_a} at every real a.
//
// Immutable, safe to share between threads. Construction calls the inner divergence 128 times.
class PoissonSampledRenyi {
 public:
  static constexpr int kLargestOrder = 128;

  // exchangeable: for every pair of neighbors there is an involution of the outcomes that exchanges
  // the two output laws (additive noise of a symmetric density, one release).
  PoissonSampledRenyi(absl::FunctionRef<double(double order)> inner, double sampling_probability,
                      bool exchangeable);

  // `inner` is the unsampled D_order. Each returns an upper bound, order in (1, inf).
  double Remove(double order, double inner) const;
  double Add(double order, double inner) const;

 private:
  // At least P[r <= t], r = dP/dQ of the mechanism, for every pair of neighbors under Q.
  struct SmallRatio {
    double t;
    double log_probability;
  };
  double AtInteger(int order) const;

  double q_;
  bool exchangeable_;
  std::vector<double> log_gain_;  // log(e^{(k-1) D_k} - 1), rounded up; from k = 2
  std::vector<SmallRatio> small_ratios_;
};

// The bound of joint convexity alone, log(1 - q + q e^{(a-1) D_a}) / (a - 1) and at most D_a, which
// holds under every neighboring relation (README, "Sampling cannot hurt").
double SamplingConvexityRenyi(double order, double inner, double q);

// The divergence of one of two pairs, where the choice has the same probability on both sides and
// is not told: M is jointly convex, so M <= (1 - w) M_first + w M_second, at every w of the
// interval. Returns log of that / (a - 1), rounded up, from M - 1, so that it keeps its digits near
// 0; at most the larger one. order in (1, inf), second_weight in [0, 1].
double MixtureRenyi(double order, double first, double second, Bounds second_weight);

// Any epsilon-DP mechanism on a Poisson sample: the sampled binary randomized response, which
// dominates it ([KOV15] Thm 3.1; sampling commutes with post-processing), at every real order.
// q in (0, 1). Never above the pure-DP bound of log(1 + q (e^epsilon - 1)) ([BBG18] Thm 8).
double PoissonSampledPureDpRemoveRenyi(double order, double epsilon, double q);
double PoissonSampledPureDpAddRenyi(double order, double epsilon, double q);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_POISSON_SAMPLED_H_
