#ifndef EPSLEDGER_ACCOUNTING_RENYI_BERNOULLI_INTEGRAND_H_
#define EPSLEDGER_ACCOUNTING_RENYI_BERNOULLI_INTEGRAND_H_

#include <cmath>

#include "accounting/numeric/computed.h"

namespace epsledger::accounting {

// The integrand of the sampled Gaussian's moments, in x = s t:
//   F(t) e^{-t^2/2},  F = (1 + y)^b - 1 - b y >= 0,  y = q (e^u - 1),  u = t/s - 1/(2 s^2),
// whose integral is sqrt(2 pi) (E_Q[g^b] - 1), because E_Q[y] = 0: the first-order terms are
// removed before anything is computed, so a moment of 1 + 1e-15 keeps all its digits.
// b > 1 (remove) or b < 0 (add); 0 < q < 1.
class BernoulliIntegrand {
 public:
  BernoulliIntegrand(double b, double q, double s);

  // Returns F(t) e^{-t^2/2 - shift} and its error.
  Computed At(double t, double shift) const;

  // log g(t) = log(1 + y).
  double LogG(double t) const;
  // q e^u / g = d log g / du: the posterior weight of the shifted component.
  double Weight(double t) const;

  // The log of F as y -> -q, rounded up: F is no larger wherever y <= 0.
  double LogLeftLimit() const;

  double u(double t) const { return t * inverse_s_ - half_inverse_s2_; }
  // The t where y = 0.
  double zero() const { return half_inverse_s2_ / inverse_s_; }
  double inverse_s() const { return inverse_s_; }

 private:
  double b_;
  double q_;
  double log_q_;
  double inverse_s_;
  double half_inverse_s2_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_BERNOULLI_INTEGRAND_H_
