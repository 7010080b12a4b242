#include "accounting/pld/tilted_sum.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/pld/chernoff.h"

namespace epsledger::accounting {
double TiltedSum::Aliases(double epsilon) const {
  const double w = period();
  // Aliases from below: f <= e^log_mass, so they are a geometric series.
  const double below =
      std::exp(RoundUp(tilt * (epsilon - w) - log_scale + log_mass, 8)) / -std::expm1(-tilt * w);
  // Aliases from above: f(e) <= E[e^{c L}] e^{-c e} constant(c) for each c > tilt.
  if (epsilon + w >= largest_loss) return below * (1 + 1e-12);
  double above = kInfinity;
  for (const Moment& moment : moments) {
    const double excess = moment.order - tilt;
    const double exponent =
        moment.log_moment - log_scale - excess * (epsilon + w) + LogChernoffConstant(moment.order);
    above = std::min(above, std::exp(RoundUp(exponent, 8)) / -std::expm1(-excess * w));
  }
  return (below + above) * (1 + 1e-12);
}

Bounds TiltedSum::Finish(double epsilon, double sum, double rounding) const {
  const double total_error = (error + rounding) * (1 + 1e-12);
  const double exponent = log_scale - tilt * epsilon;
  const double exponent_error =
      log_scale_error + 4 * kUnitRoundoff * (std::abs(log_scale) + std::abs(tilt * epsilon) + 1);
  const double up = sum + total_error;
  const double down = sum - total_error - Aliases(epsilon);
  Bounds bounds{-kInfinity, kInfinity};
  if (std::isnan(up) || std::isnan(down)) return bounds;
  bounds.upper = up > 0 ? RoundUp(std::log(up) + exponent + exponent_error, 4) : -kInfinity;
  bounds.lower = down > 0 ? RoundDown(std::log(down) + exponent - exponent_error, 4) : -kInfinity;
  bounds.upper = std::min(bounds.upper, log_mass);
  return bounds;
}

Bounds TiltedSum::LogProfile(double epsilon) const {
  double sum = 0;
  double absolute = 0;
  double phases = 0;
  const double step = kTwoPi / interval;
  for (const Node& node : nodes) {
    if (node.index == 0) {
      sum += node.weight.real();
      absolute += std::abs(node.weight.real());
      continue;
    }
    const double phase = step * static_cast<double>(node.index) * epsilon;
    sum += 2 * (node.weight.real() * std::cos(phase) + node.weight.imag() * std::sin(phase));
    const double size = 2 * std::abs(node.weight);
    absolute += size;
    phases += size * std::abs(phase);
  }
  const double rounding =
      kUnitRoundoff * (absolute * (8 + static_cast<double>(nodes.size())) + 4 * phases);
  return Finish(epsilon, sum, rounding);
}

Bounds TiltedSum::LogProfileAt(int64_t index) const {
  double sum = 0;
  double absolute = 0;
  const double step = kTwoPi / static_cast<double>(points);
  for (const Node& node : nodes) {
    if (node.index == 0) {
      sum += node.weight.real();
      absolute += std::abs(node.weight.real());
      continue;
    }
    // The phase is reduced exactly, to [-pi, pi].
    int64_t turns = (node.index * (index % points)) % points;
    if (2 * turns > points) turns -= points;
    if (2 * turns < -points) turns += points;
    const double phase = step * static_cast<double>(turns);
    sum += 2 * (node.weight.real() * std::cos(phase) + node.weight.imag() * std::sin(phase));
    absolute += 2 * std::abs(node.weight);
  }
  const double rounding = absolute * kUnitRoundoff * (20 + static_cast<double>(nodes.size()));
  return Finish(static_cast<double>(index) * interval, sum, rounding);
}

}  // namespace epsledger::accounting
