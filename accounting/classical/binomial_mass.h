#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_BINOMIAL_MASS_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_BINOMIAL_MASS_H_

// The law of the number of truthful answers in `count` runs of binary randomized response, as
// logarithms that remain accurate where lgamma has lost every digit.

namespace epsledger::accounting {

// A number and a bound on its error.
struct Approximation {
  double value;
  double error;  // |truth - value| <= error
};

// B ~ Binomial(count, p), p = e^epsilon0 / (1 + e^epsilon0). Immutable.
class BinomialMass {
 public:
  // REQUIRES: count is an integer in [1, 2^53]; epsilon0 in (0, 700], beyond which 1 - p is too
  // close to the smallest double.
  BinomialMass(double epsilon0, double count);

  // Returns log P[B = successes] for an integer in [0, count], by the deviance form of [Loader00]:
  //
  //   log P = S(n) - S(j) - S(n-j) - D(j; np) - D(n-j; nq) - log sqrt(2 pi j (n-j) / n),
  //   D(x; m) = x log(x/m) + m - x,   S(n) = log n! - log sqrt(2 pi n) - n log n + n.
  //
  // No term is much larger than the result, so the error is some 2^-50 (1 + |log P|) near the mode
  // for every count, where the sum of three lgamma is off by 2^-52 n log n. Cost: some 60 ns.
  Approximation LogMass(double successes) const;

  // An upper bound on -(log P)'' over the real interval [low, high] inside [0, count], where P is
  // continued by the Gamma function: psi'(x + 1) = sum 1/(x + i)^2 < 1 / (x + 1/2) by convexity.
  // It is positive: P is log-concave.
  double LogMassCurvature(double low, double high) const;

  // floor((count + 1) p) up to rounding: a starting point, not a bound.
  double Mode() const { return mode_; }
  double count() const { return count_; }
  double epsilon0() const { return epsilon0_; }

 private:
  Approximation Deviance(double x, double mean, double difference, double& log_ratio) const;

  double epsilon0_;
  double count_;
  double mean_;              // np
  double mean_of_failures_;  // nq
  double drift_;             // n (p - q)
  bool by_failures_;         // whether n - j gives j - np with the smaller error
  double difference_error_;
  double log_p_;
  double log_q_;
  double mode_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_BINOMIAL_MASS_H_
