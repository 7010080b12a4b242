#ifndef EPSLEDGER_ACCOUNTING_RENYI_SAMPLED_WITHOUT_REPLACEMENT_H_
#define EPSLEDGER_ACCOUNTING_RENYI_SAMPLED_WITHOUT_REPLACEMENT_H_

#include <vector>

namespace epsledger::accounting {

// Renyi divergence of a Gaussian release on a uniform subset of fixed size, when one record is
// replaced. With sampling fraction q = sample size / data set size, eps(j) = j / (2 s^2) and
// B(l) = E_Q[(dP/dQ - 1)^l] of the unsampled pair, [WBK19] Thm 27 at integer orders is
//
//   (a-1) D_a <= log(1 + q^2 C(a,2) min{4 (e^eps(2) - 1), 2 e^eps(2)}
//        + sum_{j=3}^a q^j C(a,j) min{4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))), 2 e^{(j-1) eps(j)}}).
//
// Between integers (a-1) D_a is convex, so its chord holds ([WBK19] Cor 10). Two other bounds hold
// at every real order and are used where they are smaller: the linear bound 1 - q + q M of joint
// convexity, and the unsampled divergence.
//
// Immutable, safe to share between threads. Construction costs 2 to 10 ms (the B are integrals).
class SampledWithoutReplacementGaussian {
 public:
  // sampling_fraction in (0, 1]; noise_multiplier in (0, inf): standard deviation over the distance
  // by which REPLACING a record moves the sum.
  SampledWithoutReplacementGaussian(double sampling_fraction, double noise_multiplier);

  // Returns D >= D_order in both directions, order in (1, inf); +inf for NaN.
  double Divergence(double order) const;

  // The theorem alone at an integer order in [2, kLargestOrder], rounded up; for tests. Relative
  // excess over the formula below 1e-9 (measured on the reference table: see the test).
  static constexpr int kLargestOrder = 128;
  double AtInteger(int order) const;

 private:
  double fraction_;
  double noise_multiplier_;
  // log of the j-th minimum above; [0] and [1] unused. Rounded up.
  std::vector<double> log_minimum_;
};

// log E_Q[(dP/dQ - 1)^l] for P = N(1, s^2), Q = N(0, s^2) and even l >= 2, rounded up; +inf where
// the quadrature would take more than 4,000 points. A trapezoid rule on a positive integrand, so no
// digits cancel; aliasing and tails are bounded (README, "Central moments").
double LogCentralMoment(int l, double noise_multiplier);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_SAMPLED_WITHOUT_REPLACEMENT_H_
