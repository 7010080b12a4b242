#include "accounting/profile/discrete_gaussian_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// One ulp of 1 in the extended format; where long double is double the bounds are wider, not wrong.
constexpr long double kLongUlp = std::numeric_limits<long double>::epsilon();
constexpr int64_t kMaxRows = 131072;
constexpr double kSupport = 140;  // in sigma: e^-9800 is still a normal extended number
constexpr double kMaxShift = 100;

double LastRow(double sigma, double distance) {
  return std::min(std::max(std::floor(kSupport * sigma), distance),
                  std::floor(0.5 * distance) + kMaxRows);
}

double LogDown(long double x) {
  return x > 0 ? RoundDown(static_cast<double>(std::log(x)) - 2 * kUnitRoundoff, 1) : -kInfinity;
}
double LogUp(long double x) {
  return std::min(0.0, RoundUp(static_cast<double>(std::log(x)) + 2 * kUnitRoundoff, 1));
}

}  // namespace

bool DiscreteGaussianProfile::Covers(double sigma, double distance) {
  if (std::numeric_limits<long double>::max_exponent < 16000) return false;
  return sigma >= 0.01 && distance <= kMaxShift * sigma &&
         0.5 * distance + 12 * sigma + 2 <= static_cast<double>(kMaxRows);
}

long double DiscreteGaussianProfile::Loss(int64_t k) const {
  return spacing_ * static_cast<long double>(2 * k - distance_);
}

long double DiscreteGaussianProfile::LogTailBound(int64_t k) const {
  // Terms fall by at least e^{-(2k+1) / (2 sigma^2)} per step.
  const long double scale = 0.5L / (static_cast<long double>(sigma_) * sigma_);
  const long double x = static_cast<long double>(k);
  const long double ratio = -std::expm1(-(2 * x + 1) * scale);
  const long double value = -x * x * scale - log_norm_ - std::log(ratio);
  return value + 32 * kLongUlp * (std::abs(value) + x * x * scale + 1);
}

DiscreteGaussianProfile::DiscreteGaussianProfile(double sigma, double distance)
    : sigma_(sigma), distance_(static_cast<int64_t>(distance)) {
  const long double scale = 0.5L / (static_cast<long double>(sigma) * sigma);  // 3 roundings
  spacing_ = static_cast<long double>(distance) * scale;
  long double norm = 0;
  for (int64_t k = static_cast<int64_t>(11 * sigma) + 3; k >= 1; --k) {
    norm += std::exp(-scale * (static_cast<long double>(k) * k));
  }
  norm = 1 + 2 * norm;
  // The exponents are known to 4 ulp, weighted by their terms: below 4 ulp of norm. The omitted
  // part is below e^-60 norm, and each addition loses half an ulp of a partial sum.
  const long double norm_error = kLongUlp * (16 + 11 * static_cast<long double>(sigma));
  log_norm_ = std::log(norm);

  first_ = distance_ / 2;
  last_ = static_cast<int64_t>(LastRow(sigma, distance));
  rows_.resize(static_cast<size_t>(last_ - first_ + 1));
  // G(last), summed from so far out that the rest is below 2^-70 of the term at last.
  long double tail = 0;
  long double tail_error = 0;
  const auto mass = [&](int64_t k) {
    return std::exp(-scale * (static_cast<long double>(k) * k)) / norm;
  };
  const auto add = [&](int64_t k) {
    const long double exponent = scale * (static_cast<long double>(k) * k);
    const long double term = mass(k);
    tail += term;
    tail_error += term * (kLongUlp * (8 * exponent + 4) + norm_error) + tail * kLongUlp +
                  std::numeric_limits<long double>::denorm_min();
  };
  const int64_t extra = static_cast<int64_t>(50.0 * sigma * sigma / static_cast<double>(last_) + 2);
  const int64_t start = last_ + std::min<int64_t>(extra, static_cast<int64_t>(10 * sigma) + 2);
  tail_error = std::exp(LogTailBound(start + 1)) + std::numeric_limits<long double>::denorm_min();
  for (int64_t k = start; k > last_; --k) add(k);

  // delta at L_last is at most P[K > last] = G(last + 1 - s).
  // (last >= s.)
  beyond_ = std::exp(LogTailBound(last_ + 1 - distance_)) * (1 + 64 * kLongUlp) +
            std::numeric_limits<long double>::min();
  long double delta = 0;
  long double delta_error = 0;
  const long double gap = std::expm1(2 * spacing_);  // (e^{L_{k+1}} - e^{L_k}) / e^{L_k}
  for (int64_t k = last_; k >= first_; --k) {
    if (k < last_) {
      const long double loss = Loss(k);
      const long double step = std::exp(loss) * gap * tail;
      delta += step;
      delta_error += step * kLongUlp * (8 * std::abs(loss) + 8 * spacing_ + 16) +
                     std::exp(loss) * gap * tail_error * (1 + 64 * kLongUlp) + delta * kLongUlp;
    }
    add(k);
    rows_[static_cast<size_t>(k - first_)] = Row{delta, delta_error, tail, tail_error};
  }
}

DiscreteGaussianProfile::Ends DiscreteGaussianProfile::Line(double epsilon, int64_t k) const {
  const Row& row = At(k);
  const long double loss = Loss(k);
  const long double difference = loss - epsilon;
  const long double x = std::exp(static_cast<long double>(epsilon));
  const long double more = x * std::expm1(difference) * row.tail;
  const long double difference_error =
      4 * kLongUlp * (std::abs(loss) + std::abs(static_cast<long double>(epsilon)));
  const long double error =
      row.delta_error +
      std::abs(more) * kLongUlp * (8 + 2 * std::abs(static_cast<long double>(epsilon))) +
      x * 1.1L *
          (std::exp(std::max(0.0L, difference)) * difference_error * row.tail +
           std::abs(std::expm1(difference)) * row.tail_error) +
      kLongUlp * (row.delta + std::abs(more));
  const long double value = row.delta + more;
  return Ends{std::max(0.0L, value - error), std::max(0.0L, value + error) + beyond_};
}

DiscreteGaussianProfile::Ends DiscreteGaussianProfile::DeltaAbove(double epsilon) const {
  const long double at =
      0.5L * (static_cast<long double>(epsilon) / spacing_ + static_cast<long double>(distance_));
  if (!(at < static_cast<long double>(last_))) {
    // At most P[K >= k] = G(k - s) for the least k whose loss is above epsilon.
    const long double k = std::min(std::floor(at * (1 - 16 * kLongUlp)), 9e18L);
    const int64_t least = std::max(last_, static_cast<int64_t>(k) + 1) - distance_;
    if (least < 1) return Ends{0, 1};
    const long double bound = std::exp(LogTailBound(least));
    return Ends{0, bound * (1 + 64 * kLongUlp) + std::numeric_limits<long double>::min()};
  }
  const long double error = 8 * kLongUlp * (at + static_cast<long double>(distance_) + 1);
  const int64_t low = static_cast<int64_t>(std::floor(at - error)) + 1;
  const int64_t high = static_cast<int64_t>(std::floor(at + error)) + 1;
  Ends ends = Line(epsilon, std::clamp(low, first_, last_));
  if (high != low) {
    const Ends other = Line(epsilon, std::clamp(high, first_, last_));
    ends = Ends{std::max(ends.lower, other.lower), std::max(ends.upper, other.upper)};
  }
  return ends;
}

DiscreteGaussianProfile::Ends DiscreteGaussianProfile::TailAbove(double epsilon) const {
  const long double at =
      0.5L * (static_cast<long double>(epsilon) / spacing_ + static_cast<long double>(distance_));
  if (!(at < static_cast<long double>(last_))) {
    return Ends{0, At(last_).tail + At(last_).tail_error};
  }
  const long double error = 8 * kLongUlp * (at + static_cast<long double>(distance_) + 1);
  const int64_t open = static_cast<int64_t>(std::floor(at + error)) + 1;
  const int64_t closed = static_cast<int64_t>(std::ceil(at - error));
  const Row& least = At(std::clamp(open, first_, last_));
  const Row& most = At(std::clamp(closed, first_, last_));
  return Ends{std::max(0.0L, least.tail - least.tail_error), most.tail + most.tail_error};
}

Bounds DiscreteGaussianProfile::LogDelta(double epsilon) const {
  if (epsilon >= 0) {
    const Ends ends = DeltaAbove(epsilon);
    return Bounds{LogDown(ends.lower), LogUp(ends.upper)};
  }
  // The pair is its own reverse: delta(epsilon) = 1 - e^epsilon + e^epsilon delta(-epsilon).
  const Ends mirrored = DeltaAbove(-epsilon);
  const long double x = std::exp(static_cast<long double>(epsilon));
  const long double floor = -std::expm1(static_cast<long double>(epsilon));
  return Bounds{LogDown((floor + x * mirrored.lower) * (1 - 8 * kLongUlp)),
                LogUp((floor + x * mirrored.upper) * (1 + 8 * kLongUlp))};
}

Bounds DiscreteGaussianProfile::TailUnderQ(double epsilon) const {
  if (epsilon >= 0) {
    const Ends ends = TailAbove(epsilon);
    return Bounds{RoundDownNonNegative(static_cast<double>(ends.lower)),
                  std::min(1.0, RoundUp(static_cast<double>(ends.upper)))};
  }
  // Q[L > epsilon] = P[L < -epsilon] = 1 - P[L >= -epsilon], P[L >= y] = delta(y) + e^y Q[L >= y].
  const Ends delta = DeltaAbove(-epsilon);
  const Ends tail = TailAbove(-epsilon);
  const long double x = std::exp(-static_cast<long double>(epsilon));
  const long double most = (delta.upper + x * tail.upper) * (1 + 16 * kLongUlp * (1 - epsilon));
  const long double least = (delta.lower + x * tail.lower) * (1 - 16 * kLongUlp * (1 - epsilon));
  const double lower = std::isnan(most) ? 0 : static_cast<double>(1 - std::min(1.0L, most));
  const double upper = std::isnan(least) ? 1 : static_cast<double>(1 - std::max(0.0L, least));
  return Bounds{RoundDownNonNegative(lower), std::min(1.0, RoundUp(upper))};
}

double DiscreteGaussianProfile::AtomSpacing() const {
  return static_cast<double>(distance_ % 2 == 0 ? 2 * spacing_ : spacing_);
}

}  // namespace epsledger::accounting
