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
  if (!table.empty()) {
    const int64_t position = ((index % points) + points) % points;
    return Finish(static_cast<double>(index) * interval, table[static_cast<size_t>(position)],
                  table_error);
  }
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

// The sum at the index j is the entry -j of the transform of its nodes and their mirror images, and
// real: a second sum fits into the imaginary part.
void Tabulate(TiltedSum& above, TiltedSum& below, const FourierTransform& transform) {
  const auto n = static_cast<int64_t>(transform.size());
  std::vector<std::complex<double>> packed(transform.size());
  const auto pack = [&](const TiltedSum& sum, std::complex<double> unit) {
    for (const TiltedSum::Node& node : sum.nodes) {
      if (node.index == 0) {
        packed[0] += unit * node.weight.real();
      } else if (2 * node.index == n) {
        packed[static_cast<size_t>(node.index)] += unit * (2 * node.weight.real());
      } else {
        packed[static_cast<size_t>(node.index)] += unit * node.weight;
        packed[static_cast<size_t>(n - node.index)] += unit * std::conj(node.weight);
      }
    }
  };
  pack(above, {1, 0});
  pack(below, {0, 1});
  double absolute = 0;
  double squares = 0;
  for (const std::complex<double>& x : packed) {
    absolute += std::abs(x);
    squares += std::norm(x);
  }
  const std::vector<std::complex<double>> sums = transform.CharacteristicFunction(packed);
  above.table.resize(transform.size());
  below.table.resize(transform.size());
  for (size_t j = 0; j < transform.size(); ++j) {
    const std::complex<double> value = sums[(transform.size() - j) % transform.size()];
    above.table[j] = value.real();
    below.table[j] = value.imag();
  }
  // Packing rounds each entry once. Both bounds on the transform hold.
  const double norm = std::min(absolute, std::sqrt(static_cast<double>(n) * squares));
  const double error =
      (transform.RelativeError() * norm + 4 * kUnitRoundoff * absolute) * (1 + 1e-9);
  above.table_error = error;
  below.table_error = error;
}

}  // namespace epsledger::accounting
