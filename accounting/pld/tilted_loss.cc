#include "accounting/pld/tilted_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

// log g(t), without cancellation at small q and without overflow at large w.
struct Ratio {
  double q;
  double s;
  double cut;

  // log of the share that the cut leaves. In the plane, |Phi(x + iu)| <= e^{u^2 / 2} Phi(x).
  double LogShare(double t) const { return cut == kInf ? 0 : LogNormalCdf((cut - t) / kCutWidth); }
  // A lower bound on how fast phi and the share fall together beyond t: phi/Phi(-x) >= x.
  double Fall(double t) const { return t + (t > cut ? (t - cut) / (kCutWidth * kCutWidth) : 0); }
  // No integrand with this drift has mass beyond.
  double LastHump(double drift) const {
    const double gap = kCutWidth * kCutWidth;
    return cut == kInf || drift < cut ? drift : std::max(cut, (cut + gap * drift) / (1 + gap));
  }
  double W(double t) const { return t / s - 0.5 / (s * s); }
  double LogG(double w) const { return w < 700 ? std::log1p(q * std::expm1(w)) : std::log(q) + w; }
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
  double log_outside;  // log of an upper bound on what is outside, both sides together
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
  while (log_right(range.high) > log_target) range.high += 0.125;
  range.log_outside = 0.7 + std::max(log_left(range.low), log_right(range.high));
  return range;
}

// log of an upper bound on the integral of |phi g^beta| along Im t = +-v, |Im beta| = y, Re beta =
// power: |g(t + iv)| lies between g(t) cos(v/2s) and g(t), and arg g grows with t, from 0 towards
// v/s. Cell by cell, each factor at its worst end.
double LogShiftedIntegral(const Ratio& r, double power, const Range& range, double turn, double y,
                          const std::vector<double>& edges, const std::vector<double>& log_g) {
  const double sine = std::sin(turn);
  const double cosine = std::cos(turn);
  const auto angle = [&](double w) {
    if (w > 600) return turn;
    const double grown = r.q * std::exp(w);
    return std::atan2(grown * sine, 1 - r.q + grown * cosine);
  };
  const double v = turn * r.s;
  double largest = -kInf;
  std::vector<double> logs(edges.size() - 1);
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    const double nearest = edges[i] > 0 ? edges[i] : edges[i + 1] < 0 ? edges[i + 1] : 0;
    logs[i] = power * (power > 0 ? log_g[i + 1] : log_g[i]) + y * angle(r.W(edges[i + 1])) -
              0.5 * nearest * nearest - kLogSqrtTwoPi + r.LogShare(edges[i]) +
              std::log(edges[i + 1] - edges[i]);
    largest = std::max(largest, logs[i]);
  }
  // Outside the range the angle is at most `turn`.
  const double outside = range.log_outside + y * turn;
  largest = std::max(largest, outside);
  double sum = std::exp(outside - largest);
  for (const double log : logs) sum += std::exp(log - largest);
  const double worst = power < 0 ? power * std::log(std::cos(0.5 * turn)) : 0;
  const double turned = r.cut == kInf ? 0 : 0.5 * v * v / (kCutWidth * kCutWidth);
  return largest + std::log(sum) + 0.5 * v * v + turned + worst + 1e-6;
}

// The sum in 64-bit mantissas: for all counts here its error is below one rounding of a double.
double WideSum(const double* x, size_t n) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  long double total = 0;
  for (size_t i = 0; i < n; ++i) total += x[i];
  return static_cast<double>(total);
}

}  // namespace

double CutMass(const SampledGaussianPair& pair) {
  if (pair.cut == kInf) return 0;
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
  // Two humps at most, around 0 and around power / s. A far second one is known in closed form, as
  // g is q e^w there; cut, it is out of reach and the order of no use.
  constexpr double kFar = 60;
  const bool far = last_hump > kFar;
  if (far && r.cut != kInf) return kInf;
  const double low = -6.5;
  const double high = far ? 20 : std::max(6.5, last_hump + 6.5);
  const double step = std::min(r.cut == kInf ? 0.25 : 0.1, (high - low) / 60);
  const int count = static_cast<int>((high - low) / step) + 1;
  std::vector<double> logs(static_cast<size_t>(count));
  double largest = -kInf;
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

  // The widest step whose aliases are small enough: the farther the line is shifted the faster they
  // fall, and the larger the integral on it.
  const double cell = std::max(r.cut == kInf ? 0.1 : 0.05, (range.high - range.low) / 2000);
  std::vector<double> edges;
  std::vector<double> log_g;
  for (double t = range.low; t < range.high; t += cell) edges.push_back(t);
  edges.push_back(range.high);
  log_g.reserve(edges.size());
  for (const double t : edges) log_g.push_back(r.LogG(r.W(t)));
  double step = 0;
  double log_alias = kInf;
  double turn = std::min(3.0, 8.0 / r.s);
  for (int i = 0; i < 24; ++i, turn *= 0.7) {
    const double log_integral =
        LogShiftedIntegral(r, power, range, turn, largest_frequency, edges, log_g);
    const double decay = log_integral + 1 - rough - log_tolerance;  // the wanted 2 pi v / h
    const double candidate = 2 * kPi * turn * r.s / std::max(decay, 1.0);
    if (candidate > step) {
      step = candidate;
      // 2 N / (e^{2 pi v / h} - 1), [TW14] Thm 5.1.
      log_alias = log_integral + std::log(2.0) - 2 * kPi * turn * r.s / step + 0.5;
    } else if (step > 0 && candidate < 0.5 * step) {
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
    const double log_ratio = r.LogG(w);
    const double log_share = r.LogShare(t);
    const double exponent = power * log_ratio - 0.5 * t * t - kLogSqrtTwoPi + log_share - rough;
    losses_[i] = sign * log_ratio;
    weights_[i] = step * std::exp(exponent);
    // t itself is what it is: the rule may stand anywhere. w errs by 3 ulp of its parts, log g by
    // that times its slope in w, which is at most 1 and about q e^w where that is small.
    const double slope = w > 300 ? 1.0 : std::min(1.0, r.q * std::exp(w) / (1 - r.q));
    const double log_ratio_error =
        kUnitRoundoff *
        (6 * slope * (std::abs(t / r.s) + 0.5 / (r.s * r.s)) + 6 * std::abs(log_ratio) + 4 * slope);
    // The share's argument errs by 3 ulp of its parts, its logarithm by at most |x| + 1 times that.
    const double share_error = r.cut == kInf
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
  // Both M(tilt + iy) and M(tilt) miss this much of M(tilt).
  const double missing =
      (std::exp(log_alias - rough) + 2 * std::exp(range.log_outside - rough)) / sum;
  if (!(missing < 0.01)) return;
  log_moment_ = std::log(sum) + rough;
  log_moment_error_ =
      1.02 * (missing + weight_error) + kUnitRoundoff * (4 + 8 + 4 * std::abs(rough));
  quadrature_error_ = 2.1 * missing;
  valid_ = true;
}

std::vector<std::complex<double>> TiltedLoss::CharacteristicFunctionMinusOne(double step,
                                                                             int count) const {
  // u = e^{i k step L} - 1 by repeated rotation, u' = u + u (r - 1) + (r - 1) with r = e^{i step
  // L}, afresh every 4 steps. Everything is relative to |u|, which is small where the mass is.
  constexpr int kAfresh = 4;
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
    if (k % kAfresh == 0) {
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
  // Of each |u| <= min(2, |y L|): four steps of 8 roundings, of sizes up to |u|; the sums; 3 ulp
  // of the angle. And the errors of L and of the weights.
  const double size = std::min(2.0, frequency * mean_loss_);
  return quadrature_error_ + frequency * (phase_error_ + 2.1 * weight_error_) +
         size * kUnitRoundoff * (4 * 8 + 8 + 4);
}

FrequencyDecay::FrequencyDecay(const SampledGaussianPair& pair, double tilt,
                               double log_moment_upper) {
  constexpr int kCells = 128;
  constexpr double kIgnored = 1e-5;  // density, relative to its largest, that need not be counted
  const Ratio r{pair.sampling_probability, pair.noise, pair.cut};
  const double power = Power(pair.adjacency, tilt);
  const double drift = std::max(0.0, power / r.s);
  // The part of the line that carries the mass, found on a rough grid.
  double largest = -kInf;
  const double low = -7;
  const double high = std::max(0.0, r.LastHump(drift)) + 7;
  const double rough_step = (high - low) / 400;
  for (double t = low; t <= high; t += rough_step) {
    largest = std::max(largest, LogIntegrand(r, power, t));
  }
  double first = kInf;
  double last = -kInf;
  for (double t = low; t <= high; t += rough_step) {
    if (LogIntegrand(r, power, t) > largest + std::log(kIgnored)) {
      first = std::min(first, t);
      last = std::max(last, t);
    }
  }
  if (!(last > first)) return;
  const double width = (last - first) / kCells;
  for (int i = 0; i < kCells; ++i) {
    const double a = first + width * i;
    const double b = first + width * (i + 1);
    const double log_g_a = r.LogG(r.W(a));
    const double log_g_b = r.LogG(r.W(b));
    // phi is smallest at the end farther from 0, g^power at one end as well.
    const double farthest = std::max(std::abs(a), std::abs(b));
    const double log_smallest = (power > 0 ? power * log_g_a : power * log_g_b) -
                                0.5 * farthest * farthest - kLogSqrtTwoPi + r.LogShare(b) -
                                log_moment_upper - 1e-12;
    // d log g / dt = (1 - (1-q)/g)/s grows with t.
    const double steepest = -std::expm1(std::log1p(-r.q) - log_g_b) / r.s;
    const double density = std::exp(log_smallest) / steepest * (1 - 1e-9);
    const double loss_a = Sign(pair.adjacency) * log_g_a;
    const double loss_b = Sign(pair.adjacency) * log_g_b;
    cells_.push_back({std::min(loss_a, loss_b), std::max(loss_a, loss_b), density});
  }
  std::sort(cells_.begin(), cells_.end(),
            [](const Cell& x, const Cell& y) { return x.low < y.low; });
}

double FrequencyDecay::BoundNear(double low) const {
  // |phi(y)|^2 = E[cos(y D)] = 1 - 2 E[sin^2(y D / 2)], D = L - L'. For y in [low, sqrt(2) low] and
  // D <= pi / (sqrt(2) low) the sine grows with y, and sin^2 x >= x^2 (1 - x^2 / 3).
  const double reach = kPi / (std::sqrt(2.0) * low);
  double sum = 0;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const double mass = cells_[i].density * (cells_[i].high - cells_[i].low);
    if (mass < 1e-7) continue;
    for (size_t j = i + 2; j < cells_.size(); ++j) {
      if (cells_[j].high - cells_[i].low > reach) break;
      const double gap = cells_[j].low - cells_[i].high;
      if (gap <= 0) continue;
      const double x = 0.5 * low * gap;
      sum += mass * cells_[j].density * (cells_[j].high - cells_[j].low) * x * x * (1 - x * x / 3);
    }
  }
  // Each unordered pair counts twice.
  const double squared = 1 - 4 * sum * (1 - 1e-9);
  return std::min(std::sqrt(std::max(squared, 1e-12)) * (1 + 1e-9), BoundBeyond(low));
}

double FrequencyDecay::BoundBeyond(double low) const {
  // A uniform component of width d has |sin(y d/2) / (y d/2)|, whose supremum over all larger
  // frequencies is at most this.
  const auto envelope = [](double x) {
    if (x < 2.2) return std::max(1 - x * x / 6 + x * x * x * x / 120, 0.2173);
    return std::min(0.37, 1 / x);
  };
  double best = 1;
  for (size_t merged = 1; merged <= cells_.size() / 2; merged *= 2) {
    double bound = 1;
    for (size_t i = 0; i + merged <= cells_.size(); i += merged) {
      double density = kInf;
      for (size_t j = i; j < i + merged; ++j) density = std::min(density, cells_[j].density);
      const double width = cells_[i + merged - 1].high - cells_[i].low;
      bound -= density * width * (1 - envelope(0.5 * low * width));
    }
    best = std::min(best, bound + 1e-9);
  }
  return std::max(best, 1e-9);
}

}  // namespace epsledger::accounting
