#include "accounting/pld/lattice_spectrum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

using Complex = std::complex<double>;

// A product below e^-90 is negligible compared with the 1 at frequency 0.
constexpr double kForgotten = -90;

// e^x - 1 for complex x, without cancellation near 0.
Complex ComplexExpm1(double re, double im) {
  const double half = std::sin(0.5 * im);
  return {std::expm1(re) * std::cos(im) - 2 * half * half, std::exp(re) * std::sin(im)};
}

}  // namespace

LatticeSpectrum::LatticeSpectrum(const std::vector<MeasurePair>& measures,
                                 const std::vector<double>& counts, double interval, double tilt,
                                 std::vector<double> moment_orders,
                                 const FourierTransform& transform)
    : interval_(interval),
      tilt_(tilt),
      points_(static_cast<int64_t>(transform.size())),
      moment_orders_(std::move(moment_orders)) {
  for (size_t i = 0; i < measures.size(); ++i) AddFactors(measures[i], counts[i], transform);
}

void LatticeSpectrum::AddFactors(const MeasurePair& measures, double count,
                                 const FourierTransform& transform) {
  const size_t n = transform.size();
  const auto mask = static_cast<int64_t>(n - 1);
  std::vector<Complex> packed(n);
  double rounding[2] = {0, 0};
  double squares = 0;
  Factor factors[2];
  const LossMeasure* sides[2] = {&measures.above, &measures.below};
  for (int side = 0; side < 2; ++side) {
    const LossMeasure& measure = *sides[side];
    Factor& factor = factors[side];
    // Any number near the logarithm of the moment suffices: the input is scaled by it, and the
    // scale is restored exactly.
    const double scale = LogMoment(measure, interval_, tilt_);
    factor.log_scale = scale;
    factor.last = measure.first + static_cast<int64_t>(measure.masses.size()) - 1;
    double mass = 0;
    for (size_t i = 0; i < measure.masses.size(); ++i) {
      if (measure.masses[i] == 0) continue;
      mass += measure.masses[i];
      const int64_t index = measure.first + static_cast<int64_t>(i);
      const double exponent = tilt_ * interval_ * static_cast<double>(index) - scale;
      const double tilted = measure.masses[i] * std::exp(exponent);
      rounding[side] += tilted * (2 * std::abs(tilt_ * interval_ * static_cast<double>(index)) +
                                  std::abs(scale) + 6);
      Complex& slot = packed[static_cast<size_t>(index & mask)];
      if (side == 0) {
        slot.real(slot.real() + tilted);
      } else {
        slot.imag(slot.imag() + tilted);
      }
    }
    rounding[side] *= 2 * kUnitRoundoff;
    factor.log_mass = RoundUp(std::log(mass), 4) +
                      2 * kUnitRoundoff * (static_cast<double>(measure.masses.size()) + 4);
    // Each side has its own: a loss that is infinite above may be large but finite below.
    for (const double order : moment_orders_) {
      factor.log_moments.push_back(LogMoment(measure, interval_, order));
    }
  }
  for (const Complex& x : packed) squares += std::norm(x);
  const std::vector<Complex> spectrum = transform.CharacteristicFunction(packed);
  const double transform_error =
      transform.RelativeError() * std::sqrt(static_cast<double>(n) * squares) * (1 + 1e-9);

  const bool first = above_.factors.empty();
  for (int side = 0; side < 2; ++side) {
    Side& kept = side == 0 ? above_ : below_;
    Factor& factor = factors[side];
    const double error = transform_error + rounding[side];
    // |phi|^count < e^-90 without a logarithm.
    const double threshold = std::exp(kForgotten / count);
    std::vector<int64_t> frequencies;
    std::vector<size_t> survivors;
    const auto visit = [&](int64_t k, size_t position) {
      const Complex a = spectrum[static_cast<size_t>(k)];
      const Complex b = std::conj(spectrum[static_cast<size_t>((-k) & mask)]);
      const Complex phi =
          side == 0 ? 0.5 * (a + b) : Complex(0.5 * (a - b).imag(), -0.5 * (a - b).real());
      const double size = std::hypot(phi.real(), phi.imag());
      if (size + error < threshold) return;
      frequencies.push_back(k);
      survivors.push_back(position);
      factor.log.emplace_back(std::log(size), std::atan2(phi.imag(), phi.real()));
      factor.error.push_back(error);
    };
    if (first) {
      for (int64_t k = 0; k <= points_ / 2; ++k) visit(k, 0);
    } else {
      for (size_t i = 0; i < kept.frequencies.size(); ++i) visit(kept.frequencies[i], i);
      for (Factor& earlier : kept.factors) {
        for (size_t i = 0; i < survivors.size(); ++i) {
          earlier.log[i] = earlier.log[survivors[i]];
          earlier.error[i] = earlier.error[survivors[i]];
        }
        earlier.log.resize(survivors.size());
        earlier.error.resize(survivors.size());
      }
    }
    kept.frequencies = std::move(frequencies);
    kept.factors.push_back(std::move(factor));
  }
}

ComposedSums LatticeSpectrum::Compose(const std::vector<double>& counts) const {
  return ComposedSums{Compose(above_, counts), Compose(below_, counts)};
}

TiltedSum LatticeSpectrum::Compose(const Side& side, const std::vector<double>& counts) const {
  TiltedSum sum;
  sum.tilt = tilt_;
  sum.interval = interval_;
  sum.points = points_;
  for (const double order : moment_orders_) sum.moments.push_back({order, 0});
  double last = 0;
  for (size_t e = 0; e < counts.size(); ++e) {
    const Factor& factor = side.factors[e];
    sum.log_scale += counts[e] * factor.log_scale;
    sum.log_scale_error += counts[e] * 4 * kUnitRoundoff * std::abs(factor.log_scale);
    sum.log_mass += counts[e] * factor.log_mass;
    last += counts[e] * static_cast<double>(factor.last);
    for (size_t m = 0; m < sum.moments.size(); ++m) {
      sum.moments[m].log_moment += counts[e] * factor.log_moments[m];
    }
  }
  sum.log_scale_error +=
      static_cast<double>(counts.size()) * 2 * kUnitRoundoff * std::abs(sum.log_scale);
  sum.largest_loss = RoundUp(last * interval_, 4 + static_cast<double>(counts.size()));
  sum.log_mass = RoundUp(sum.log_mass, 4 + static_cast<double>(counts.size()));
  for (TiltedSum::Moment& moment : sum.moments) {
    moment.log_moment = RoundUp(moment.log_moment, 4 + static_cast<double>(counts.size()));
  }

  // sum over j >= 1 of e^{-z j h} (1 - e^{-j h}), z = tilt + i y, in a form that does not cancel.
  const double h = interval_;
  const double growth = std::expm1(h);
  const auto kernel = [&](int64_t k) {
    const double y = kTwoPi * static_cast<double>(k) / static_cast<double>(points_);
    const Complex low = ComplexExpm1(tilt_ * h, y);
    const Complex high = ComplexExpm1((tilt_ + 1) * h, y);
    return (low + 1.0) * growth / (low * high);
  };
  const double norm = 1 / static_cast<double>(points_);
  // The kernel's coefficients are positive, so it is largest at k = 0.
  const double largest = kernel(0).real();
  double error = 2 * largest * std::exp(kForgotten);
  for (size_t i = 0; i < side.frequencies.size(); ++i) {
    const int64_t k = side.frequencies[i];
    double log_size = 0;
    double phase = 0;
    double relative_error = 0;
    double log_bound = 0;
    for (size_t e = 0; e < counts.size(); ++e) {
      const Factor& factor = side.factors[e];
      const Complex log = factor.log[i];
      const double spread = factor.error[i] * std::exp(-log.real());
      log_size += counts[e] * log.real();
      log_bound += counts[e] * (log.real() + std::log1p(spread));
      // atan2 has an error of one ulp of the angle; the turns of count * angle are exact.
      phase += std::remainder(counts[e] * log.imag(), kTwoPi);
      relative_error += counts[e] * (spread / std::max(1 - spread, 1e-3) +
                                     4 * kUnitRoundoff * (std::abs(log.real()) + 8));
    }
    const Complex weight = norm * kernel(k);
    // The frequency points / 2 is its own mirror image; so is 0.
    const bool alone = k == 0 || 2 * k == points_;
    const double mirror = alone ? 1 : 2;
    if (!(relative_error < 0.1)) {
      error += mirror * std::abs(weight) * (1 + 1e-9) *
               std::exp(std::min(log_bound + 1e-9 * std::abs(log_bound), 700.0));
      continue;
    }
    const Complex product = std::polar(std::exp(log_size), phase);
    Complex value = weight * product;
    if (2 * k == points_ && k != 0) value *= 0.5;
    error += mirror * std::abs(value) * (1.1 * relative_error + 40 * kUnitRoundoff);
    if (k == 0) value = Complex(value.real(), 0);
    sum.nodes.push_back({k, value});
  }
  // Negligible nodes are left out of the sum and counted as error.
  double heaviest = 0;
  for (const TiltedSum::Node& node : sum.nodes) {
    heaviest = std::max(heaviest, std::abs(node.weight));
  }
  double left_out = 0;
  std::erase_if(sum.nodes, [&](const TiltedSum::Node& node) {
    if (std::abs(node.weight) > 1e-18 * heaviest) return false;
    left_out += 2 * std::abs(node.weight);
    return true;
  });
  sum.error = (error + left_out) * (1 + 1e-9);
  return sum;
}

}  // namespace epsledger::accounting
