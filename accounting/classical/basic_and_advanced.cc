#include "accounting/classical/basic_and_advanced.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {}  // namespace

ApproximateDpParameters BasicComposition(const std::vector<CountedParameters>& events) {
  ApproximateDpParameters sum;
  for (const CountedParameters& e : events) {
    AddProductUp(sum.epsilon, e.count, e.parameters.epsilon);
    AddProductUp(sum.delta, e.count, e.parameters.delta);
  }
  return sum;
}

double BasicEpsilon(const ApproximateDpParameters& total, const EpsilonAtDelta& at) {
  if (at.log_delta >= 0) return 0;
  return at.Allows(total.delta) ? total.epsilon : kInfinity;
}

double ApproximateDpLogDelta(const ApproximateDpParameters& parameters, double epsilon) {
  const double epsilon0 = parameters.epsilon;
  const double delta0 = std::min(1.0, parameters.delta);
  if (epsilon >= epsilon0) {
    if (delta0 == 0) return -kInfinity;
    return delta0 == 1 ? 0 : std::min(0.0, RoundUp(std::log(delta0), 1) + kUlp);
  }
  const double rest = 1 - delta0;
  double more;
  if (epsilon > -epsilon0) {
    more = rest * -std::expm1(epsilon - epsilon0) / (1 + std::exp(-epsilon0));
  } else {
    more = rest * -std::expm1(epsilon);
  }
  const double delta = RoundUp(delta0 + more, 8 + std::abs(epsilon) + epsilon0);
  return delta >= 1 ? 0 : std::min(0.0, RoundUp(std::log(delta), 1) + kUlp);
}

ApproximateDpParameters GroupPrivacy(const ApproximateDpParameters& parameters, double size) {
  if (size == 1) return parameters;
  const double epsilon = RoundUpNonNegative(size * parameters.epsilon);
  if (parameters.delta == 0) return {epsilon, 0};
  const double factor =
      parameters.epsilon == 0 ? size : std::expm1(epsilon) / std::expm1(parameters.epsilon);
  const double delta = RoundUp(parameters.delta * factor, 8 + 2 * epsilon);
  return {epsilon, std::isnan(delta) ? 1 : std::min(1.0, delta)};
}

AdvancedSums SumForAdvanced(const std::vector<CountedParameters>& events) {
  AdvancedSums sums;
  for (const CountedParameters& e : events) {
    const double epsilon = e.parameters.epsilon;
    if (epsilon > 0) {
      AddProductUp(sums.squares, e.count, RoundUp(epsilon * epsilon));
      AddProductUp(sums.drift, e.count, RoundUp(epsilon * std::expm1(epsilon), 3));
    }
    AddProductUp(sums.delta, e.count, e.parameters.delta);
  }
  return sums;
}

double AdvancedEpsilon(const AdvancedSums& sums, double log_slack) {
  if (sums.squares == 0) return 0;
  const double epsilon =
      RoundUp(std::sqrt(RoundUp(-2 * log_slack * sums.squares, 2)) + sums.drift, 3);
  return std::isnan(epsilon) ? kInfinity : epsilon;
}

double AdvancedLogDelta(const AdvancedSums& sums, double epsilon) {
  if (sums.squares == 0) {
    return epsilon >= 0 ? ApproximateDpLogDelta({0, sums.delta}, epsilon) : 0;
  }
  const double room = RoundDown(epsilon - sums.drift);
  if (!(room > 0)) return 0;
  // sqrt(2 L V) = room, L = log(1/slack).
  const double log_slack = -RoundDownNonNegative(room / sums.squares * (0.5 * room), 4);
  return LogDeltaPlus(log_slack, sums.delta);
}

}  // namespace epsledger::accounting
