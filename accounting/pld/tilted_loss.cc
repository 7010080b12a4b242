#include "accounting/pld/tilted_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

// log g(t), without cancellation at small q and without overflow at large w.
struct Ratio {
  double q;
  double s;
  double cut;

  // Returns log of the share that the cut leaves. In the plane, |Phi(x + iu)| <= e^{u^2 / 2}
  // Phi(x).
  double LogShare(double t) const {
    return cut == kInfinity ? 0 : LogNormalCdf((cut - t) / kCutWidth);
  }
  // Returns a lower bound on how fast phi and the share fall together beyond t: phi/Phi(-x) >= x.
  double Fall(double t) const { return t + (t > cut ? (t - cut) / (kCutWidth * kCutWidth) : 0); }
  // No integrand with this drift has a hump beyond the returned point.
  double LastHump(double drift) const {
    const double gap = kCutWidth * kCutWidth;
    return cut == kInfinity || drift < cut ? drift : std::max(cut, (cut + gap * drift) / (1 + gap));
  }
  // For negative powers none has a hump before the returned point: the slope of log g falls to the
  // left.
  double FirstHump(double power) const { return power < 0 ? power * At(W(0)).slope / s : 0; }
  double W(double t) const { return t / s - 0.5 / (s * s); }
  double LogG(double w) const { return At(w).log_g; }
  // log g and its slope in w, q e^w / g, which grows with w from 0 to 1. Both to a few ulp.
  struct Value {
    double log_g;
    double slope;
  };
  Value At(double w) const {
    if (w >= 700) return {std::log(q) + w, 1};
    const double grown = std::expm1(w);
    return {std::log1p(q * grown), q * (w < -1 ? std::exp(w) : grown + 1) / (1 + q * grown)};
  }
};

// The exponent of g under the integral at tilt c, and how losses follow from log g.
double Power(Adjacency adjacency, double c) { return adjacency == Adjacency::kRemove ? c + 1 : -c; }
double Sign(Adjacency adjacency) { return adjacency == Adjacency::kRemove ? 1 : -1; }

// log of phi(t) g(t)^power, cut.
double LogIntegrand(const Ratio& r, double power, double t) {
  return power * r.LogG(r.W(t)) - 0.5 * t * t - kLogSqrtTwoPi + r.LogShare(t);
}

// [low, high] outside which integral and trapezoid sum of phi g^power are below e^log_target each.
struct Range {
  double low;
  double high;
  double log_outside;  // log of an upper bound on the parts outside, both sides together
};
Range FindRange(const Ratio& r, double power, double log_target) {
  Range range{-3, 3, 0};
  // Left: g lies in [1-q, 1] below t = 1/(2s), so g^power is at most max(1, (1-q)^power) there, and
  // phi has the tail phi(t)/|t|. The step of the sum is at most 1.
  const double largest_log = std::max(0.0, power * std::log1p(-r.q));
  const auto log_left = [&](double t) {
    return largest_log - 0.5 * t * t - kLogSqrtTwoPi + std::log(1 + 1 / -t);
  };
  while (log_left(range.low) > log_target) range.low -= 0.25;
  // Right: log g grows by at most 1/s a unit (and g^power falls for negative powers).
  const double drift = std::max(0.0, power / r.s);
  range.high = std::max(3.0, r.LastHump(drift));
  while (r.Fall(range.high) < drift + 1) range.high += 0.0625;
  const auto log_right = [&](double t) {
    return LogIntegrand(r, power, t) + std::log(1 + 1 / (r.Fall(t) - drift));
  };
  while (log_right(range.high) > log_target) range.high += 0.25;
  range.log_outside = 0.7 + std::max(log_left(range.low), log_right(range.high));
  return range;
}

// The integral of |phi g^beta| along Im t = +-v, Re beta = power and |Im beta| = y: |g(t + iv)|
// lies between g(t) cos(v/2s) and g(t), and arg g grows with t, from 0 towards v/s.
class ShiftedIntegral {
 public:
  ShiftedIntegral(const Ratio& r, double power, const Range& range)
      : r_(r), power_(power), log_outside_(range.log_outside) {
    const double cell = std::max(r.cut == kInfinity ? std::clamp(0.25 * r.s, 0.1, 0.4) : 0.05,
                                 (range.high - range.low) / 2000);
    const auto count = static_cast<size_t>(std::ceil((range.high - range.low) / cell));
    logs_.reserve(count);
    grown_.reserve(count);
    double left = range.low;
    Ratio::Value at_left = r.At(r.W(left));
    for (size_t i = 1; i <= count; ++i) {
      const double right = range.low + cell * static_cast<double>(i);
      const double w = r.W(right);
      const Ratio::Value at_right = r.At(w);
      // log g is convex: below its chord, above its tangent. -t^2/2 is below its tangent at the
      // middle, and the share falls. A linear function is largest at an end.
      const double width = right - left;
      const double middle = 0.5 * (left + right);
      const double tangent = 0.5 * middle * width;
      const double log_g_end =
          power > 0 ? at_right.log_g : at_left.log_g + at_left.slope / r.s * width;
      logs_.push_back(std::max(power * at_left.log_g + tangent, power * log_g_end - tangent) -
                      0.5 * middle * middle - kLogSqrtTwoPi + r.LogShare(left) + std::log(width));
      largest_ = std::max(largest_, logs_.back());
      grown_.push_back(w > 600 ? kInfinity : r.q * std::exp(w));
      left = right;
      at_left = at_right;
    }
  }

  // log of an upper bound, v = turn s. Cell by cell, the angle at its right end.
  double LogBound(double turn, double y) const {
    const double sine = std::sin(turn);
    const double cosine = std::cos(turn);
    // Outside the range the angle is at most `turn`.
    const double largest = std::max(largest_, log_outside_) + y * turn;
    double sum = std::exp(log_outside_ + y * turn - largest);
    for (size_t i = 0; i < logs_.size(); ++i) {
      const double angle = y == 0 ? 0
                           : grown_[i] == kInfinity
                               ? turn
                               : std::atan2(grown_[i] * sine, 1 - r_.q + grown_[i] * cosine);
      sum += std::exp(logs_[i] + y * angle - largest);
    }
    if (!(sum > 0)) return kInfinity;
    const double v = turn * r_.s;
    const double worst = power_ < 0 ? power_ * std::log(std::cos(0.5 * turn)) : 0;
    const double turned = r_.cut == kInfinity ? 0 : 0.5 * v * v / (kCutWidth * kCutWidth);
    return largest + std::log(sum) + 0.5 * v * v + turned + worst + 1e-6;
  }

 private:
  const Ratio r_;
  const double power_;
  const double log_outside_;
  double largest_ = -kInfinity;
  std::vector<double> logs_;   // of the bound on each cell at v = 0
  std::vector<double> grown_;  // q e^w at its right end
};

// The sum in 64-bit mantissas, four at a time: off by 2 roundings of the sum of the sizes; the
// remaining error is below one rounding for all counts here.
double WideSum(const double* x, size_t n) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  long double total = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) total += (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]);
  for (; i < n; ++i) total += x[i];
  return static_cast<double>(total);
}

}  // namespace

double CutMass(const SampledGaussianPair& pair) {
  if (pair.cut == kInfinity) return 0;
  // E[Phi((t - cut) / width)] of a normal t of mean m is Phi((m - cut) / sqrt(1 + width^2)).
  const double scale = std::sqrt(1 + kCutWidth * kCutWidth);
  const auto tail = [&](double mean) {
    return NormalCdf((mean - pair.cut) / scale * (1 - 1e-14)) * (1 + 1e-9);
  };
  const double q = pair.sampling_probability;
  return RoundUp((1 - q) * tail(0) + q * tail(1 / pair.noise), 8);
}

double RoughLogMoment(const SampledGaussianPair& pair, double order) {
  const Ratio r{pair.sampling_probability, pair.noise, pair.cut};
  const double power = Power(pair.adjacency, order);
  const double last_hump = r.LastHump(std::max(0.0, power / r.s));
  // Two humps at most, around 0 and around power / s. A far second hump is known in closed form,
  // since g is q e^w there; with a cut it is out of reach and the order is useless.
  constexpr double kFar = 60;
  const bool far = last_hump > kFar;
  if (far && r.cut != kInfinity) return kInfinity;
  double low = r.FirstHump(power) - 6;
  double high = far ? 20 : std::max(6.0, last_hump + 6);
  if (power < 0) {
    // The integrand is log-concave, and no wider than the normal density around its one hump.
    double left = low;
    double right = 0;
    for (int i = 0; i < 60 && right - left > 0.25; ++i) {
      const double middle = 0.5 * (left + right);
      (middle < power * r.At(r.W(middle)).slope / r.s ? left : right) = middle;
    }
    low = left - 6.5;
    high = right + 6.5;
  }
  const double step = r.cut == kInfinity ? std::clamp(0.5 * r.s, 0.1, 0.5) : 0.1;
  const int count = static_cast<int>((high - low) / step) + 1;
  std::vector<double> logs(static_cast<size_t>(count));
  double largest = -kInfinity;
  for (int i = 0; i < count; ++i) {
    logs[static_cast<size_t>(i)] = LogIntegrand(r, power, low + step * i);
    largest = std::max(largest, logs[static_cast<size_t>(i)]);
  }
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - largest);
  const double near = std::log(sum * step) + largest;
  if (!far) return near;
  return LogAddExp(near, power * (std::log(r.q) + (power - 1) / (2 * r.s * r.s)));
}

TiltedLoss::TiltedLoss(const SampledGaussianPair& pair, double tilt, double largest_frequency,
                       double tolerance, int max_points) {
  const Ratio r{pair.sampling_probability, pair.noise, pair.cut};
  const double power = Power(pair.adjacency, tilt);
  const double sign = Sign(pair.adjacency);
  const double rough = RoughLogMoment(pair, tilt);
  const double log_tolerance = std::log(tolerance);
  if (!std::isfinite(rough)) return;
  const Range range = FindRange(r, power, rough + log_tolerance - 2);

  // The largest step whose aliases are small enough: the farther the line is shifted, the faster
  // they fall, and the larger the integral on the line is.
  const ShiftedIntegral shifted(r, power, range);
  double step = 0;
  double log_alias = kInfinity;
  double turn = std::min(3.0, 8.0 / r.s);
  for (int i = 0; i < 24; ++i, turn *= 0.7) {
    const double log_integral = shifted.LogBound(turn, largest_frequency);
    const double decay = log_integral + 1 - rough - log_tolerance;  // the wanted 2 pi v / h
    const double candidate = 2 * kPi * turn * r.s / std::max(decay, 1.0);
    if (candidate > step) {
      step = candidate;
      // 2 N / (e^{2 pi v / h} - 1), [TW14] Thm 5.1.
      log_alias = log_integral + std::log(2.0) - 2 * kPi * turn * r.s / step + 0.5;
    } else if (step > 0 && candidate < 0.9 * step) {
      break;
    }
  }
  step = std::min(step, 1.0);
  if (!((range.high - range.low) / step < max_points)) return;

  const auto count = static_cast<size_t>(std::ceil((range.high - range.low) / step)) + 1;
  losses_.resize(count);
  weights_.resize(count);
  std::vector<double> rounding(count);
  for (size_t i = 0; i < count; ++i) {
    const double t = range.low + step * static_cast<double>(i);
    const double w = r.W(t);
    const auto [log_ratio, slope] = r.At(w);
    const double log_share = r.LogShare(t);
    const double exponent = power * log_ratio - 0.5 * t * t - kLogSqrtTwoPi + log_share - rough;
    losses_[i] = sign * log_ratio;
    weights_[i] = step * std::exp(exponent);
    // t itself has no error: the nodes of the rule may lie anywhere. w has an error of 3 ulp of its
    // parts, log g that error times its slope in w.
    const double log_ratio_error =
        kUnitRoundoff *
        (6 * slope * (std::abs(t / r.s) + 0.5 / (r.s * r.s)) + 6 * std::abs(log_ratio) + 4 * slope);
    // The argument of the share has an error of 3 ulp of its parts, its logarithm at most |x| + 1
    // times that.
    const double share_error = r.cut == kInfinity
                                   ? 0
                                   : kNormalRelativeError * (1 + std::abs(log_share)) +
                                         3 * kUnitRoundoff * (std::abs(t) + r.cut) / kCutWidth *
                                             (std::max(0.0, (t - r.cut) / kCutWidth) + 1);
    rounding[i] = share_error +
                  2 * kUnitRoundoff * (t * t + std::abs(rough) + std::abs(exponent) + 8) +
                  std::abs(power) * log_ratio_error;
    phase_error_ += weights_[i] * log_ratio_error;
  }
  const double sum = WideSum(weights_.data(), count);
  double weight_error = 0;
  for (size_t i = 0; i < count; ++i) weight_error += weights_[i] * rounding[i];
  weight_error /= sum;
  phase_error_ = phase_error_ / sum * (1 + 1e-9);
  for (size_t i = 0; i < count; ++i) {
    weights_[i] /= sum;
    mean_loss_ += weights_[i] * std::abs(losses_[i]);
    weight_error_ += weights_[i] * std::abs(losses_[i]) * rounding[i];
  }
  // Both M(tilt + iy) and M(tilt) lack this share of M(tilt).
  const double missing =
      (std::exp(log_alias - rough) + 2 * std::exp(range.log_outside - rough)) / sum;
  if (!(missing < 0.01)) return;
  log_moment_ = std::log(sum) + rough;
  log_moment_error_ =
      1.02 * (missing + weight_error) + kUnitRoundoff * (4 + 8 + 4 * std::abs(rough));
  quadrature_error_ = 2.1 * missing;
  // Rounding may cost a tenth of the error of the rule.
  afresh_ = static_cast<int>(std::clamp(0.1 * tolerance / (8 * kUnitRoundoff), 4.0, 64.0));
  valid_ = true;
}

std::vector<std::complex<double>> TiltedLoss::CharacteristicFunctionMinusOne(double step,
                                                                             int count) const {
  // u = e^{i k step L} - 1 by repeated rotation, u' = u + u (r - 1) + (r - 1) with r = e^{i step
  // L}, computed directly every few steps. All errors are relative to |u|, which is small where the
  // mass is.
  const size_t n = losses_.size();
  std::vector<double> re(n);
  std::vector<double> im(n);
  std::vector<double> turn_re(n);
  std::vector<double> turn_im(n);
  for (size_t i = 0; i < n; ++i) {
    const double half = std::sin(0.5 * step * losses_[i]);
    turn_re[i] = -2 * half * half;
    turn_im[i] = std::sin(step * losses_[i]);
  }
  std::vector<std::complex<double>> phi(static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) {
    if (k % afresh_ == 0) {
      for (size_t i = 0; i < n; ++i) {
        const double angle = step * static_cast<double>(k) * losses_[i];
        const double half = std::sin(0.5 * angle);
        re[i] = -2 * weights_[i] * half * half;
        im[i] = weights_[i] * std::sin(angle);
      }
    } else {
      for (size_t i = 0; i < n; ++i) {
        const double x =
            re[i] + (re[i] * turn_re[i] - im[i] * turn_im[i]) + weights_[i] * turn_re[i];
        im[i] = im[i] + (re[i] * turn_im[i] + im[i] * turn_re[i]) + weights_[i] * turn_im[i];
        re[i] = x;
      }
    }
    phi[static_cast<size_t>(k)] = {WideSum(re.data(), n), WideSum(im.data(), n)};
  }
  return phi;
}

double TiltedLoss::Error(double frequency) const {
  // For each |u| <= min(2, |y L|): afresh_ steps of 8 roundings, of sizes up to |u|, and the sums;
  // 8 roundings of the angle and of the turn; and the errors of L and of the weights.
  const double size = std::min(2.0, frequency * mean_loss_);
  return quadrature_error_ + frequency * (phase_error_ + 2.1 * weight_error_) +
         kUnitRoundoff * (size * (afresh_ * 8 + 12) + 8 * frequency * mean_loss_);
}

FrequencyDecay::FrequencyDecay(const SampledGaussianPair& pair, double tilt,
                               double log_moment_upper, int cell_count) {
  constexpr double kIgnored = 1e-5;  // density, relative to its largest, that need not be counted
  const Ratio r{pair.sampling_probability, pair.noise, pair.cut};
  const double power = Power(pair.adjacency, tilt);
  // The part of the line that carries the mass, found on a rough grid.
  const double low = r.FirstHump(power) - 7;
  const double high = std::max(0.0, r.LastHump(std::max(0.0, power / r.s))) + 7;
  constexpr double kRoughStep = 0.5;
  std::vector<double> rough;
  for (double t = low; t <= high; t += kRoughStep) rough.push_back(LogIntegrand(r, power, t));
  const double counted = *std::max_element(rough.begin(), rough.end()) + std::log(kIgnored);
  double first = kInfinity;
  double last = -kInfinity;
  for (size_t i = 0; i < rough.size(); ++i) {
    if (rough[i] > counted) {
      const double t = low + kRoughStep * static_cast<double>(i);
      first = std::min(first, t);
      last = std::max(last, t);
    }
  }
  if (!(last > first)) return;
  std::vector<Cell> cells;
  cells.reserve(static_cast<size_t>(cell_count));
  const double width = (last - first) / cell_count;
  const double sign = Sign(pair.adjacency);
  double a = first;
  Ratio::Value at_a = r.At(r.W(a));
  double rest_a = -0.5 * a * a + r.LogShare(a);
  for (int i = 1; i <= cell_count; ++i) {
    const double b = first + width * i;
    const Ratio::Value at_b = r.At(r.W(b));
    const double rest_b = -0.5 * b * b + r.LogShare(b);
    // -t^2/2 and log share are concave, log g is convex and above its tangents: a concave function
    // is smallest at an end.
    double smallest = std::min(power * at_a.log_g + rest_a, power * at_b.log_g + rest_b);
    if (power > 0) {
      const double rise = (b - a) / r.s;
      smallest = std::max(
          std::min(power * at_a.log_g + rest_a, power * (at_a.log_g + at_a.slope * rise) + rest_b),
          std::min(power * (at_b.log_g - at_b.slope * rise) + rest_a, power * at_b.log_g + rest_b));
    }
    // d log g / dt = slope / s grows with t.
    const double density = std::exp(smallest - kLogSqrtTwoPi - log_moment_upper - 1e-12) /
                           (at_b.slope / r.s) * (1 - 1e-9);
    // Losses have errors of some ulp, and far to the left they hardly differ.
    const double slip = 8 * kUnitRoundoff * std::max(std::abs(at_a.log_g), std::abs(at_b.log_g));
    Cell cell{std::min(sign * at_a.log_g, sign * at_b.log_g) + slip,
              std::max(sign * at_a.log_g, sign * at_b.log_g) - slip, density};
    if (!(cell.high > cell.low) || !std::isfinite(density)) cell = {cell.low, cell.low, 0};
    cells.push_back(cell);
    a = b;
    at_a = at_b;
    rest_a = rest_b;
  }
  if (sign < 0) std::reverse(cells.begin(), cells.end());
  FillWindows(cells);
  FillComponents(std::move(cells));
}

void FrequencyDecay::FillWindows(const std::vector<Cell>& cells) {
  size_t begin = 0;
  size_t end = cells.size();
  while (end - begin >= 4) {
    // The moments of uniform laws on the cells, about the mean.
    double mass = 0;
    double mean = 0;
    for (size_t i = begin; i < end; ++i) {
      const double one = cells[i].density * (cells[i].high - cells[i].low);
      mass += one;
      mean += one * 0.5 * (cells[i].low + cells[i].high);
    }
    if (!(mass > 0)) return;
    mean /= mass;
    double m1 = 0;
    double m2 = 0;
    double m3 = 0;
    double m4 = 0;
    for (size_t i = begin; i < end; ++i) {
      const double one = cells[i].density * (cells[i].high - cells[i].low);
      const double a = cells[i].low - mean;
      const double b = cells[i].high - mean;
      const double aa = a * a;
      const double bb = b * b;
      m1 += one * (a + b) / 2;
      m2 += one * (aa + a * b + bb) / 3;
      m3 += one * (a + b) * (aa + bb) / 4;
      m4 += one * (aa * aa + a * b * (aa + a * b + bb) + bb * bb) / 5;
    }
    windows_.push_back({2 * (mass * m2 - m1 * m1), 2 * (mass * m4 - 4 * m1 * m3 + 3 * m2 * m2)});
    // Continues with the middle half.
    const double reach = 0.25 * (cells[end - 1].high - cells[begin].low);
    while (begin < end && cells[begin].low < mean - reach) ++begin;
    while (end > begin && cells[end - 1].high > mean + reach) --end;
  }
}

void FrequencyDecay::FillComponents(std::vector<Cell> cells) {
  while (cells.size() > 1) {
    std::vector<Cell> merged;
    for (size_t i = 0; i + 1 < cells.size(); i += 2) {
      merged.push_back(
          {cells[i].low, cells[i + 1].high, std::min(cells[i].density, cells[i + 1].density)});
    }
    double widest = 0;
    for (const Cell& cell : cells) widest = std::max(widest, cell.high - cell.low);
    widest_.push_back(widest);
    components_.push_back(std::move(cells));
    cells = std::move(merged);
  }
}

double FrequencyDecay::BoundNear(double low) const {
  // |phi(y)|^2 = E[cos(y D)] = 1 - 2 E[sin^2(y D / 2)], D = L - L', and sin^2 x >= x^2 - x^4 / 3. A
  // convex function of y^2 is largest at an end.
  const auto at = [](const Window& window, double y_squared) {
    return y_squared *
           (0.5 * (1 - 1e-9) * window.square - y_squared / 24 * (1 + 1e-9) * window.fourth_power);
  };
  double missing = 0;  // of 1
  for (const Window& window : windows_) {
    missing = std::max(missing, std::min(at(window, low * low), at(window, 2 * low * low)));
  }
  return std::min(1.0, std::sqrt(std::max(1 - missing, 1e-12)) * (1 + 4 * kUnitRoundoff));
}

double FrequencyDecay::BoundBeyond(double low) const {
  // A uniform component of width d has |sin(y d/2) / (y d/2)|, whose supremum over all larger
  // frequencies is at most this.
  const auto envelope = [](double x) {
    if (x < 2.2) return std::max(1 - x * x / 6 + x * x * x * x / 120, 0.2173);
    return std::min(0.37, 1 / x);
  };
  double best = 1;
  for (size_t level = 0; level < components_.size(); ++level) {
    const std::vector<Cell>& cells = components_[level];
    // Far below one turn the gain of a component is proportional to its width cubed: larger
    // components are better.
    if (level + 2 < components_.size() && 0.5 * low * widest_[level] < 0.2) continue;
    double bound = 1;
    for (const Cell& cell : cells) {
      const double width = cell.high - cell.low;
      bound -= cell.density * width * (1 - envelope(0.5 * low * width));
    }
    best = std::min(best, bound + 1e-9);
  }
  return std::max(best, 1e-9);
}

}  // namespace epsledger::accounting
