#include "tests/accounting/classical/kov_closed_form.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/classical/reveal.h"
#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
double KovEpsilon(const std::vector<CountedParameters>& events, double log_slack) {
  const double sum = BasicComposition(events).epsilon;
  const double basic = std::isnan(sum) ? kInfinity : sum;
  if (basic == 0 || std::isnan(log_slack) || log_slack == -kInfinity) return basic;
  double drift = 0;
  double squares = 0;
  for (const CountedParameters& e : events) {
    const double epsilon = e.parameters.epsilon;
    if (epsilon == 0 || e.count == 0) continue;
    drift = RoundUp(drift + RoundUp(e.count * epsilon * std::tanh(0.5 * epsilon), 4));
    squares = RoundUp(squares + RoundUp(e.count * (epsilon * epsilon), 2));
  }
  const double log_inverse = -log_slack;
  // log(e + sqrt(V) / slack)
  const double log_shifted = LogAddExp(1, 0.5 * std::log(squares) + log_inverse);
  const double log_term =
      std::min(RoundUp(log_inverse), RoundUp(log_shifted, 8) + kUlp * std::abs(std::log(squares)));
  const double epsilon = RoundUp(drift + RoundUp(std::sqrt(2 * squares * log_term), 3), 2);
  return std::isnan(epsilon) ? basic : std::min(basic, epsilon);
}

double KovLogDelta(const std::vector<CountedParameters>& events, double log_slack) {
  if (!(log_slack <= 0)) return 0;
  const ProfileValue slack{{log_slack, log_slack}, LogOfComplement({log_slack, log_slack})};
  return WithReveal(LogKeep(events), slack).upper;
}

double KovLogSlack(const std::vector<CountedParameters>& events, double log_delta) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Bounds keep = LogKeep(events);
  if (keep.lower == 0) return std::min(0.0, log_delta);
  // slack = (delta - reveal) / keep, and keep <= 1: its rounding down is harmless.
  const double reveal = LogReveal(keep).upper;
  if (!(log_delta > reveal)) return kNaN;
  const double left = RoundDown(LogSubExp(std::min(0.0, log_delta), reveal), 8) - 8 * kUlp;
  double log_slack = std::min(0.0, left - keep.upper);
  // Cancellation may leave it too large: the theorem's own delta decides.
  double step = 4 * kUlp;
  for (int i = 0; KovLogDelta(events, log_slack) > log_delta; ++i, step *= 4) {
    if (i == 60) return kNaN;
    log_slack -= step * (1 + std::abs(log_slack));
  }
  return log_slack;
}

}  // namespace epsledger::accounting
