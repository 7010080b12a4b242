#include "accounting/audit/binomial_tail.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/classical/binomial_mass.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "boost/math/policies/policy.hpp"
#include "boost/math/special_functions/beta.hpp"

namespace epsledger::accounting {
namespace {

namespace policies = boost::math::policies;

// The range of BinomialMass.
constexpr double kLargestLogit = 700;

using NoThrow = policies::policy<policies::domain_error<policies::ignore_error>,
                                 policies::pole_error<policies::ignore_error>,
                                 policies::overflow_error<policies::ignore_error>,
                                 policies::evaluation_error<policies::ignore_error>>;

// Returns a logit where the tail is about `probability`: a starting point. NaN if the library finds
// none.
double ProposedLogit(int64_t successes, int64_t trials, double probability) {
  const auto a = static_cast<double>(successes);
  const double b = static_cast<double>(trials - successes) + 1;
  double complement = 0;
  const double proportion = boost::math::ibeta_inv(a, b, probability, &complement, NoThrow());
  return std::log(proportion) - std::log(complement);
}

}  // namespace

double BinomialUpperTail(double logit, int64_t trials, int64_t successes) {
  return BinomialUpperTailAndMass(logit, trials, successes).tail;
}

BinomialTail BinomialUpperTailAndMass(double logit, int64_t trials, int64_t successes) {
  constexpr BinomialTail kUnknown{1, 1};
  if (successes <= 0) return kUnknown;
  if (successes > trials) return {0, 0};
  // The tail grows with the logit: a logit outside the range is replaced by the next larger one
  // inside.
  if (!(logit <= kLargestLogit)) return kUnknown;
  logit = std::max(logit, -kLargestLogit);
  if (logit == 0) logit = std::numeric_limits<double>::min();
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(successes);
  if (k <= n * ProportionUp(logit)) return kUnknown;

  const BinomialMass mass(std::abs(logit), n);
  const Approximation first = mass.LogMass(logit > 0 ? k : n - k);
  // P[B = j + 1] / P[B = j] = (n - j) / (j + 1) e^logit, below 1 from the mean on and decreasing.
  const double odds = RoundUp(std::exp(logit));
  double sum = 1;
  double term = 1;
  double terms = 1;
  for (double j = k; j < n; ++j) {
    const double ratio = (n - j) / (j + 1) * odds;
    term *= ratio;
    sum += term;
    ++terms;
    if (ratio < 1 && term * ratio < 1e-17 * sum * (1 - ratio)) {
      sum += 1e-17 * sum;  // the geometric series that bounds the rest
      break;
    }
  }
  // Each term adds an error of at most 4 ulp to that of the term before; each addition adds half an
  // ulp.
  const double mass_here = RoundUp(std::exp(RoundUp(first.value + first.error, 2)));
  const double tail = RoundUp(mass_here * sum, 8 * terms + 8);
  return {std::min(tail, 1.0), std::min(mass_here, 1.0)};
}

double LogitLowerBound(int64_t successes, int64_t trials, double failure_probability) {
  if (successes == 0) return -kInfinity;
  const auto verified = [&](double logit) {
    return BinomialUpperTail(logit, trials, successes) <= failure_probability;
  };
  const double proposed = ProposedLogit(successes, trials, failure_probability);
  if (std::abs(proposed) < kLargestLogit) {
    double step = 1e-13 * (1 + std::abs(proposed));
    for (int i = 0; i < 20; ++i, step *= 4) {
      if (verified(proposed - step)) return proposed - step;
    }
  }
  double low = -kLargestLogit;
  double high = kLargestLogit;
  if (!verified(low)) return -kInfinity;
  for (int i = 0; i < 64; ++i) {
    const double middle = 0.5 * (low + high);
    (verified(middle) ? low : high) = middle;
  }
  return low;
}

double LogitUpperBound(int64_t successes, int64_t trials, double failure_probability) {
  // The failures are binomial with the opposite logit.
  return -LogitLowerBound(trials - successes, trials, failure_probability);
}

double ProportionDown(double logit) {
  return std::clamp(RoundDown(1 / (1 + std::exp(-logit)), 4), 0.0, 1.0);
}

double ProportionUp(double logit) {
  return std::clamp(RoundUp(1 / (1 + std::exp(-logit)), 4), 0.0, 1.0);
}

}  // namespace epsledger::accounting
