#ifndef EPSLEDGER_ACCOUNTING_RENYI_RANDOM_ALLOCATION_H_
#define EPSLEDGER_ACCOUNTING_RENYI_RANDOM_ALLOCATION_H_

#include <cstdint>
#include <vector>

namespace epsledger::accounting {

// Renyi divergence of `rounds` = t Gaussian releases, of which one uniformly random release
// contains the record (balls and bins), under add-or-remove-one. The pair is (average of P_i, Q),
// P_i = Q with coordinate i shifted by 1, Q = N(0, s^2 I_t): it dominates t adaptive releases
// ([FS25] Thm 3.1). With r_i independent copies of e^{x/s - 1/(2 s^2)}, x standard normal, G = (r_1
// + ... + r_t)/t:
//
//   remove: E[G^a] = a! [z^a] (sum_k e^{k (k-1) / (2 s^2)} (z/t)^k / k!)^t at integer a, exact;
//           (a-1) D_a is convex between;
//   add:    E[G^{1-a}] = t^b/Gamma(b) int_0^inf v^{b-1} phi(v)^t dv, b = a - 1, phi(v) = E[e^{-v
//   r}]
//           for a in [2, kLargestOrder], by a trapezoid rule with proved aliasing and tails; also
//           D_a <= (a + t - 1) / (2 t s^2) ([FS25] Cor 4.6: G is at least its geometric mean).
// Neither exceeds the unsampled a / (2 s^2), which is the answer beyond kLargestOrder.
//
// Immutable, safe to share between threads. Construction: some milliseconds.
class RandomAllocationGaussian {
 public:
  static constexpr int kLargestOrder = 64;

  // rounds >= 1, noise_multiplier in (0, inf).
  RandomAllocationGaussian(int64_t rounds, double noise_multiplier);

  // Upper bounds, order in (1, inf).
  double Remove(double order) const;
  double Add(double order) const;

 private:
  double AddIntegral(double order) const;

  double rounds_;
  double noise_multiplier_;
  std::vector<double> remove_log_moment_;  // log M_a at integer a, rounded up
  // The add side's grid: x_i = first_x_ + i step_, and t log phi(e^{x_i}), rounded up.
  double first_x_ = 0;
  double step_ = 0;
  double log_aliasing_ = 0;  // per unit of -log cos: see AddIntegral
  std::vector<double> log_phi_t_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_RANDOM_ALLOCATION_H_
