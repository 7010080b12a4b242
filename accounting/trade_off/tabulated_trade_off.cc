#include "accounting/trade_off/tabulated_trade_off.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// The first step as a share of delta(0), which is some 0.4 standard deviations of a narrow loss.
constexpr double kFirstStep = 0.02;
constexpr double kGrowth = 1.5;
// An interval wider than wanted by this factor is halved; the next interval is somewhat narrower
// than wanted.
constexpr double kTooWide = 1.5;
constexpr double kPrudence = 0.85;
constexpr double kSmallestStep = 1e-5;
// A table may hold thousands of points; each may be left out of a hull because of one rounding.
constexpr double kHullRounding = 1e-11;

// Steps along a profile, three samples deep.
class Sweep {
 public:
  Sweep(absl::FunctionRef<Bounds(double)> delta, const SamplingOptions& options)
      : delta_(delta),
        options_(options),
        end_(std::min(options.largest_epsilon, kLargestEpsilon)) {}

  std::vector<ProfileSample> Run() {
    taken_.push_back(Ask(0));
    double step = kFirstStep * std::max(taken_[0].delta.upper, options_.absolute_width);
    smallest_step_ = kSmallestStep * step / kFirstStep;
    while (!AtEnd()) {
      if (ahead_.empty()) ahead_.push_back(Ask(std::min(taken_.back().epsilon + step, end_)));
      const double width = ahead_.back().epsilon - taken_.back().epsilon;
      const double wanted = WantedStep();
      if (width > kTooWide * wanted && width > 2 * smallest_step_ && MayAsk()) {
        ahead_.push_back(Ask(taken_.back().epsilon + 0.5 * width));
        continue;
      }
      taken_.push_back(ahead_.back());
      ahead_.pop_back();
      step = std::clamp(kPrudence * wanted, 0.5 * width, kGrowth * width);
      if (!MayAsk()) step = kGrowth * width;
    }
    return std::move(taken_);
  }

 private:
  ProfileSample Ask(double epsilon) {
    ++asked_;
    Bounds delta = delta_(epsilon);
    if (std::isnan(delta.lower)) delta.lower = 0;
    if (std::isnan(delta.upper)) delta.upper = 1;
    return ProfileSample{
        epsilon, Bounds{std::clamp(delta.lower, 0.0, 1.0), std::clamp(delta.upper, 0.0, 1.0)}};
  }
  bool MayAsk() const { return asked_ < options_.max_samples; }
  bool AtEnd() const {
    return taken_.back().delta.upper <= options_.absolute_width || taken_.back().epsilon >= end_;
  }

  // Returns the step across which f is as narrow as wanted, from the last two samples and the next
  // one.
  double WantedStep() const {
    const double unlimited = 2 * kLargestEpsilon;
    if (taken_.size() < 2) return unlimited;
    const ProfileSample& a = taken_[taken_.size() - 2];
    const ProfileSample& b = taken_.back();
    const ProfileSample& c = ahead_.back();
    // Slopes of g in x / x_b.
    const double before = (a.delta.upper - b.delta.upper) / -std::expm1(a.epsilon - b.epsilon);
    const double after = (b.delta.upper - c.delta.upper) / std::expm1(c.epsilon - b.epsilon);
    const double density = 2 * (before - after) / (c.epsilon - a.epsilon);
    // x alpha, where alpha is also the value of the other direction's function at f.
    const double scaled = std::max(0.0, after);
    const double f = std::max(0.0, 1 - b.delta.upper - scaled);
    const auto tolerance_of = [&](double value, double unit) {
      return std::max(options_.absolute_width * unit, options_.relative_width * value);
    };
    const double tolerance = std::min(tolerance_of(std::min(f, b.delta.upper + scaled), 1),
                                      tolerance_of(scaled, std::exp(b.epsilon)));
    const double noise = std::max(b.delta.upper - b.delta.lower, c.delta.upper - c.delta.lower);
    if (!(density > 0) || noise > 0.5 * tolerance) return unlimited;
    return std::sqrt(2 * tolerance / density);
  }

  const absl::FunctionRef<Bounds(double)> delta_;
  const SamplingOptions& options_;
  const double end_;
  std::vector<ProfileSample> taken_;
  std::vector<ProfileSample> ahead_;  // by decreasing epsilon
  double smallest_step_ = 0;
  int asked_ = 0;
};

// A line above g on one side.
struct Line {
  double x;
  double g;
  double slope;
  double At(double t) const { return RoundUp(g + slope * (t - x), 4); }
};

}  // namespace

std::vector<ProfileSample> SampleProfile(absl::FunctionRef<Bounds(double epsilon)> delta,
                                         const SamplingOptions& options) {
  return Sweep(delta, options).Run();
}

TabulatedTradeOff::TabulatedTradeOff(const std::vector<ProfileSample>& pair,
                                     const std::vector<ProfileSample>& reverse, double finite_mass,
                                     double reverse_finite_mass) {
  struct Sample {
    double x;
    Bounds g;
  };
  // x is e^epsilon up to a few ulp, and x g' <= g: at most the same relative error of g.
  const auto sample = [](double epsilon, double x, Bounds g) {
    const double moved = 8 * kUnitRoundoff * (2 + std::abs(epsilon));
    return Sample{x, Bounds{RoundDownNonNegative(g.lower * (1 - moved), 4),
                            RoundUp(g.upper * (1 + moved), 4)}};
  };
  const auto complement = [](Bounds delta) {
    return Bounds{std::max(0.0, RoundDown(1 - delta.upper)), RoundUp(1 - delta.lower)};
  };
  std::vector<Sample> samples = {Sample{0, Bounds{0, 0}}};
  for (auto it = reverse.rbegin(); it != reverse.rend(); ++it) {
    if (it->epsilon <= 0) continue;
    // The pair is its own reverse: 1 - delta(-epsilon) = e^-epsilon (1 - delta_reverse(epsilon)).
    const Bounds rest = complement(it->delta);
    const double x = std::exp(-it->epsilon);
    samples.push_back(sample(it->epsilon, x, Bounds{x * rest.lower, x * rest.upper}));
  }
  for (const ProfileSample& s : pair) {
    samples.push_back(sample(s.epsilon, std::exp(s.epsilon), complement(s.delta)));
  }
  const Line first{0, 0, reverse_finite_mass};
  for (Sample& s : samples) s.g.upper = std::min({s.g.upper, first.At(s.x), finite_mass});

  std::vector<Point> below;
  for (const Sample& s : samples) below.push_back(Point{s.x, s.g.lower});
  below_ = ConcaveHull(below);

  const auto secant = [](const Sample& far, const Sample& near) {
    return Line{near.x, near.g.upper, (near.g.upper - far.g.lower) / (near.x - far.x)};
  };
  std::vector<Point> above;
  const size_t n = samples.size();
  for (size_t i = 0; i < n; ++i) {
    const double low = samples[i].x;
    const double high = i + 1 < n ? samples[i + 1].x : std::numeric_limits<double>::max();
    const Line left = i == 0 ? first : secant(samples[i - 1], samples[i]);
    // g does not fall, so the last interval lies below its right end.
    const Line right = i + 2 < n   ? secant(samples[i + 2], samples[i + 1])
                       : i + 1 < n ? Line{high, samples[i + 1].g.upper, 0}
                                   : Line{low, finite_mass, 0};
    above.push_back(Point{low, samples[i].g.upper});
    // The hull covers the smaller of both lines if the value of the larger line at any t between is
    // a point of the hull.
    const double crossing = (right.g - left.g + left.slope * left.x - right.slope * right.x) /
                            (left.slope - right.slope);
    const double t = std::isfinite(crossing) ? std::clamp(crossing, low, high) : low;
    above.push_back(Point{t, std::min(finite_mass, std::max(left.At(t), right.At(t)))});
  }
  above_ = ConcaveHull(above);
  for (Point& p : above_) p.g = std::min(finite_mass, p.g * (1 + kHullRounding));
}

std::vector<TabulatedTradeOff::Point> TabulatedTradeOff::ConcaveHull(
    const std::vector<Point>& points) {
  const auto slope = [](const Point& a, const Point& b) { return (b.g - a.g) / (b.x - a.x); };
  std::vector<Point> hull;
  for (const Point& p : points) {
    if (!hull.empty() && p.x == hull.back().x) {
      if (p.g <= hull.back().g) continue;
      hull.pop_back();
    }
    while (hull.size() >= 2 &&
           !(slope(hull[hull.size() - 2], hull.back()) > slope(hull.back(), p))) {
      hull.pop_back();
    }
    hull.push_back(p);
  }
  return hull;
}

double TabulatedTradeOff::Conjugate(const std::vector<Point>& hull, double alpha, double rounding) {
  // The first vertex after which g rises by no more than alpha.
  size_t low = 0;
  size_t high = hull.size() - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const Point& a = hull[middle];
    const Point& b = hull[middle + 1];
    if ((b.g - a.g) > alpha * (b.x - a.x)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  double largest = 0;
  for (size_t i = low == 0 ? 0 : low - 1; i < std::min(hull.size(), low + 2); ++i) {
    const double spent = hull[i].x * alpha;
    const double value = hull[i].g - spent;
    largest = std::max(largest, value + rounding * (hull[i].g + spent));
  }
  return largest;
}

Bounds TabulatedTradeOff::At(double alpha) const {
  if (std::isnan(alpha)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  const double a = std::max(alpha, 0.0);
  const double ceiling = std::min(1.0, RoundUp(1 - a));
  const double upper = std::clamp(Conjugate(above_, a, 4 * kUnitRoundoff), 0.0, ceiling);
  return Bounds{std::clamp(Conjugate(below_, a, -4 * kUnitRoundoff), 0.0, upper), upper};
}

double TabulatedTradeOff::Interpolate(const std::vector<Point>& hull, double x) {
  const auto right = std::upper_bound(hull.begin(), hull.end(), x,
                                      [](double t, const Point& p) { return t < p.x; });
  if (right == hull.end()) return hull.back().g;
  const auto left = right - 1;
  return left->g + (right->g - left->g) * ((x - left->x) / (right->x - left->x));
}

double TabulatedTradeOff::InterceptBelow(double x) const {
  return RoundDown(Interpolate(below_, x), 8);
}

Bounds TabulatedTradeOff::Delta(double epsilon) const {
  if (std::isnan(epsilon)) return Bounds{0, 1};
  const double x = std::exp(std::min(epsilon, kLargestEpsilon));
  const double lower = 1 - Interpolate(above_, x) * (1 + kHullRounding) - kHullRounding;
  const double upper = 1 - Interpolate(below_, x) * (1 - kHullRounding) + kHullRounding;
  return Bounds{std::clamp(lower, 0.0, 1.0), std::clamp(upper, 0.0, 1.0)};
}

}  // namespace epsledger::accounting
