#include "accounting/filter/pair_spectrum.h"

#include <cmath>

namespace epsledger::accounting {

ExtendedComplex Product(ExtendedComplex a, ExtendedComplex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

double Magnitude(ExtendedComplex a) {
  return static_cast<double>(std::sqrt(a.real() * a.real() + a.imag() * a.imag()));
}

ExtendedComplex Power(ExtendedComplex base, int64_t exponent) {
  ExtendedComplex result(1, 0);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = Product(result, base);
    if (exponent > 1) base = Product(base, base);
  }
  return result;
}

double PowerError(double magnitude, double error, int64_t n) {
  if (n == 0) return 0;
  const double count = static_cast<double>(n);
  // n products of relative error sqrt(5) u, and the mean value theorem for the base.
  return count * std::pow(magnitude + error, count - 1) * 1.01 *
         (error + static_cast<double>(kExtendedProductError) * magnitude);
}

std::array<Direction, 2> DirectionsOf(const LossPair& pair) {
  Direction p{pair.first, {}};
  Direction q{-pair.last(), {}};
  p.masses.assign(pair.masses.begin(), pair.masses.end());
  q.masses.resize(pair.masses.size());
  for (size_t i = 0; i < pair.masses.size(); ++i) {
    const long double loss = static_cast<long double>(pair.first + static_cast<int64_t>(i)) *
                             static_cast<long double>(pair.interval);
    q.masses[pair.masses.size() - 1 - i] = pair.masses[i] * std::exp(-loss);
  }
  return {std::move(p), std::move(q)};
}

double LogMomentOf(const Direction& direction, double interval, double order) {
  if (direction.masses.empty()) return -std::numeric_limits<double>::infinity();
  const double step = order * interval;
  const double edge =
      std::max(step * static_cast<double>(direction.first),
               step * static_cast<double>(direction.first +
                                          static_cast<int64_t>(direction.masses.size()) - 1));
  double sum = 0;
  for (size_t i = 0; i < direction.masses.size(); ++i) {
    const double at = step * static_cast<double>(direction.first + static_cast<int64_t>(i));
    if (at - edge < -745) continue;
    sum += static_cast<double>(direction.masses[i]) * std::exp(at - edge);
  }
  // The skipped terms are less than 1e-300 of the whole; exponents are off by an ulp.
  return edge + std::log(sum + 1e-300) + 1e-12 * (1 + std::abs(edge));
}

TailMoments TailMomentsOf(const std::array<Direction, 2>& directions, double interval) {
  TailMoments result;
  for (size_t law = 0; law < 2; ++law) {
    for (size_t side = 0; side < 2; ++side) {
      for (size_t i = 0; i < kTailOrders.size(); ++i) {
        const double order = side == 0 ? kTailOrders[i] : -kTailOrders[i];
        result.log_moment[law][side][i] = LogMomentOf(directions[law], interval, order);
      }
    }
  }
  return result;
}

double MassBeyond(const CountedMoments& uses, size_t law, double window) {
  double total = 0;
  for (size_t side = 0; side < 2; ++side) {
    double best = 0;
    for (size_t i = 0; i < kTailOrders.size(); ++i) {
      double exponent = -kTailOrders[i] * window;
      for (const auto& [moments, count] : uses) {
        if (count > 0) exponent += count * moments->log_moment[law][side][i];
      }
      if (i == 0 || exponent < best) best = exponent;
    }
    total += std::exp(std::min(best, 0.0) + 1e-9 * (1 + std::abs(best)));
  }
  return total;
}

Spectrum SpectrumOf(const std::array<Direction, 2>& directions,
                    const ExtendedFourierTransform& transform) {
  const auto size = static_cast<int64_t>(transform.size());
  std::vector<ExtendedComplex> packed(transform.size());
  const auto place = [&](int64_t index) { return ((index % size) + size) % size; };
  for (size_t law = 0; law < 2; ++law) {
    const Direction& direction = directions[law];
    for (size_t i = 0; i < direction.masses.size(); ++i) {
      ExtendedComplex& to = packed[place(direction.first + static_cast<int64_t>(i))];
      if (law == 0) {
        to += ExtendedComplex(direction.masses[i], 0);
      } else {
        to += ExtendedComplex(0, direction.masses[i]);
      }
    }
  }
  const std::vector<ExtendedComplex> both = transform.CharacteristicFunction(packed);
  Spectrum spectrum;
  const int64_t half = size / 2;
  for (auto& law : spectrum.at) law.resize(half + 1);
  for (int64_t k = 0; k <= half; ++k) {
    const ExtendedComplex a = both[k];
    const ExtendedComplex b = std::conj(both[(size - k) % size]);
    spectrum.at[0][k] = (a + b) * 0.5L;
    const ExtendedComplex d = (a - b) * 0.5L;
    spectrum.at[1][k] = {d.imag(), -d.real()};
  }
  // The packed input has a total mass of at most 2; folding and splitting add a few roundings.
  spectrum.error = 2.5 * (transform.RelativeError() + 8 * static_cast<double>(kExtendedUnit));
  return spectrum;
}

}  // namespace epsledger::accounting
