#include "accounting/profile/random_allocation_profile.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

constexpr int64_t kMostRounds = int64_t{1} << 20;
// What is left out at one step: of the mean above the grid, or of the mass below it.
constexpr double kLogLeftOut = -115;  // 1e-50
constexpr double kLeftOutMass = 1e-50;
// What the ends of the grid may move a value by, on the side where that only loosens.
constexpr double kClipped = 1e-40;
constexpr double kLargestLogRatio = 600;
constexpr size_t kMostNodes = 900;
// The distance of nodes near 1, in mean absolute deviations; far from 1 as a share of the
// distance from it, and of the value.
constexpr double kNodesNearOne = 0.03;
constexpr double kNodesFarFromOne = 0.02;
constexpr double kNodesRelative = 0.04;
// More than the relative error of a chord's slopes.
constexpr double kSlopeError = 1e-14;

enum class RatioDirection { kRemove, kAdd };

// The law of an average of ratios under Q. The masses may be a little off, the values are as given.
struct RatioLaw {
  std::vector<double> values;  // increasing, the first one 0
  std::vector<long double> masses;
  double left_out = 0;  // remove: the part of the mean above the last value
  double relative_error = 0;
  double deviation = 0;  // a guess at the mean absolute deviation from 1
  double rounds = 1;
};

// Nodes from `low` to `high` around 1, and 0. No two are close to each other.
std::vector<double> NodesOf(double deviation, double low, double high) {
  deviation = std::clamp(deviation, 1e-12, 1.0);
  low = std::min(low, 1 - 1e-9);
  high = std::max(high, 1 + 1e-9);
  std::vector<double> nodes;
  for (double coarse = 1;; coarse *= 1.15) {
    const auto step = [&](double x) {
      const double near = std::max(kNodesNearOne * deviation, kNodesFarFromOne * std::abs(x - 1));
      return coarse * std::min(near, kNodesRelative * x);
    };
    nodes.clear();
    for (double x = 1; x - low > 0.5 * step(x) && nodes.size() < 4 * kMostNodes; x -= step(x)) {
      nodes.push_back(x);
    }
    nodes.push_back(low);
    nodes.push_back(0);
    std::reverse(nodes.begin(), nodes.end());
    double x = 1 + step(1);
    for (; high - x > 0.5 * step(x) && nodes.size() < 4 * kMostNodes; x += step(x)) {
      nodes.push_back(x);
    }
    nodes.push_back(high);
    if (nodes.size() <= kMostNodes) return nodes;
  }
}

// Keeps the points of the lower convex hull. The x are increasing.
void KeepHull(std::vector<double>& x, std::vector<double>& y) {
  std::vector<size_t> hull;
  const auto slope = [&](size_t i, size_t j) { return (y[j] - y[i]) / (x[j] - x[i]); };
  for (size_t i = 0; i < x.size(); ++i) {
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) >= slope(hull.back(), i)) {
      hull.pop_back();
    }
    hull.push_back(i);
  }
  std::vector<double> hull_x;
  std::vector<double> hull_y;
  for (const size_t i : hull) {
    hull_x.push_back(x[i]);
    hull_y.push_back(y[i]);
  }
  x = std::move(hull_x);
  y = std::move(hull_y);
}

// An upper bound on delta at every x within a relative 2^-50 of x.
double DeltaUpAt(const PrivacyProfile& profile, double x) {
  const double epsilon = std::log(x);
  const double log_delta = profile.LogDelta(epsilon - 4 * kUlp * (1 + std::abs(epsilon))).upper;
  return log_delta == -kInfinity ? 0 : std::min(1.0, std::exp(log_delta) * (1 + kSlopeError));
}

// The x beyond which delta is negligible or only what is told, or where the losses end.
double EndOfRatios(const PrivacyProfile& profile) {
  double epsilon = 0;
  const double last = std::min(kLargestLogRatio, profile.LargestLoss());
  double step = 1e-6;
  const double told = profile.InfinityMass();
  const double least = told > 0 ? std::max(kLogLeftOut, std::log(told) + 1e-9) : kLogLeftOut;
  while (epsilon < last && profile.LogDelta(epsilon).upper > least) {
    epsilon += step;
    step = std::max(1.5 * step, 0.05 * epsilon);
    step = std::min(step, 0.5);
  }
  // So far beyond that DeltaUpAt finds the end there too.
  return std::exp(std::min(epsilon, last) * (1 + 16 * kUlp) + 32 * kUlp);
}

// E(min(r, high) - k)_+ <= C(k), C the chords of delta, which end in 0 at `high`: what is above it
// is left out. The masses are the changes of slope.
RatioLaw LawForRemove(const PrivacyProfile& profile, double low, double high, double deviation) {
  RatioLaw law;
  law.deviation = deviation;
  std::vector<double> x = NodesOf(deviation, low, high);
  std::vector<double> y;
  for (const double node : x) y.push_back(node == 0 ? 1 : DeltaUpAt(profile, node));
  law.left_out = y.back();
  // E(min(r, high) - k)_+ is less than delta by at least what is left out.
  const double least = std::exp(profile.LogDelta(std::log(high) * (1 + 8 * kUlp)).lower);
  for (double& point : y) point = std::max(0.0, point - RoundDownNonNegative(least, 4));
  y.back() = 0;
  KeepHull(x, y);
  law.values = x;
  law.masses.assign(x.size(), 0);
  double slope = 0;  // right of the node
  for (size_t i = x.size() - 1; i > 0; --i) {
    const double chord = (y[i] - y[i - 1]) / (x[i] - x[i - 1]) * (1 + kSlopeError);
    // No true slope is below -1, whatever rounding makes of chords between close nodes.
    const double left = std::max(-1.0, std::min(slope, chord));
    law.masses[i] = static_cast<long double>(slope) - left;
    slope = left;
  }
  law.masses[0] = std::max(0.0, 1 + slope);
  law.relative_error = 4 * kUlp;
  return law;
}

// E(k - r)_+ <= C(k), C the chords of k delta(log 1/k), delta of the pair without the record
// against the one with it.
RatioLaw LawForAdd(const PrivacyProfile& profile, double low, double high, double deviation) {
  RatioLaw law;
  law.deviation = deviation;
  std::vector<double> x = NodesOf(deviation, low, high);
  std::vector<double> y;
  for (const double node : x) {
    y.push_back(node == 0 ? 0 : node * DeltaUpAt(profile, 1 / node) * (1 + kSlopeError));
  }
  KeepHull(x, y);
  law.values = x;
  law.masses.assign(x.size(), 0);
  double below = 0;  // the mass below the node
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double slope = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (1 + kSlopeError);
    const double up_to = std::min(1.0, std::max(below, slope));
    law.masses[i] = static_cast<long double>(up_to) - below;
    below = up_to;
  }
  law.masses.back() = 1 - static_cast<long double>(below);
  law.relative_error = 4 * kUlp;
  return law;
}

// Ends the law where what lies beyond is negligible.
void TrimLaw(RatioLaw& law, RatioDirection direction) {
  const std::vector<double>& v = law.values;
  std::vector<long double>& w = law.masses;
  // What ending at values[last] cuts off the mean.
  size_t last = v.size() - 1;
  long double above = 0;
  long double cut = 0;
  while (last > 1) {
    const long double mass = above + w[last];
    const long double more = cut + mass * (v[last] - v[last - 1]);
    if (!(more < (direction == RatioDirection::kRemove ? kLeftOutMass : kClipped))) break;
    above = mass;
    cut = more;
    --last;
  }
  // A larger mean is told, a smaller one is on the safe side.
  if (direction == RatioDirection::kRemove) law.left_out += static_cast<double>(cut) * (1 + 1e-9);
  w[last] += above;
  // Below: values are raised (remove) to the first one that is kept, or lowered to 0 (add).
  size_t first = 1;
  long double below = 0;
  if (direction == RatioDirection::kRemove) {
    if (w[0] * v[1] < kClipped) {
      below = w[0];
      w[0] = 0;
      while (first < last && (below + w[first]) * v[first + 1] < kClipped) below += w[first++];
      w[first] += below;
    }
  } else {
    while (first < last && below + w[first] < kLeftOutMass) below += w[first++];
    w[0] += below;
  }
  std::vector<double> values = {0};
  std::vector<long double> masses = {w[0]};
  values.insert(values.end(), v.begin() + static_cast<std::ptrdiff_t>(first),
                v.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  masses.insert(masses.end(), w.begin() + static_cast<std::ptrdiff_t>(first),
                w.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  law.values = std::move(values);
  law.masses = std::move(masses);
}

// The law of the average of a.rounds ratios of `a` and b.rounds of `b`, on a grid.
RatioLaw AverageOfTwo(const RatioLaw& a, const RatioLaw& b, RatioDirection direction) {
  RatioLaw law;
  law.rounds = a.rounds + b.rounds;
  const double share_a = a.rounds / law.rounds;
  const double share_b = b.rounds / law.rounds;
  law.deviation = std::hypot(share_a * a.deviation, share_b * b.deviation);
  law.values = NodesOf(law.deviation, std::min(a.values[1], b.values[1]),
                       std::max(a.values.back(), b.values.back()));
  law.masses.assign(law.values.size(), 0);
  // Values and shares are rounded up for "remove" and down for "add".
  const double outward = direction == RatioDirection::kRemove ? 1 + 4 * kUlp : 1 - 4 * kUlp;
  const std::vector<double>& nodes = law.values;
  const size_t end = nodes.size() - 1;
  const bool same = &a == &b;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (a.masses[i] == 0) continue;
    size_t k = 0;
    for (size_t j = same ? i : 0; j < b.values.size(); ++j) {
      const long double mass = a.masses[i] * b.masses[j] * (same && j > i ? 2 : 1);
      if (mass == 0) continue;
      // An average is not above the largest value of both.
      double value =
          std::min(nodes[end], (share_a * a.values[i] + share_b * b.values[j]) * outward);
      // Nor is one of two positive values below the least of them.
      if (a.values[i] > 0 && b.values[j] > 0) value = std::max(nodes[1], value);
      while (k < end && nodes[k + 1] <= value) ++k;
      if (k == end) {
        law.masses[end] += mass;
        continue;
      }
      const double share = std::min(1.0, (value - nodes[k]) / (nodes[k + 1] - nodes[k]) * outward);
      law.masses[k + 1] += mass * share;
      law.masses[k] += mass * (1 - share);
    }
  }
  law.left_out = RoundUpNonNegative(share_a * a.left_out + share_b * b.left_out, 4);
  // Each mass is a sum of at most as many products as there are pairs.
  const double pairs = static_cast<double>(a.values.size()) * static_cast<double>(b.values.size());
  law.relative_error =
      (a.relative_error + b.relative_error) * (1 + 1e-6) + 4 * kUlp + pairs * 0x1p-63;
  TrimLaw(law, direction);
  return law;
}

RatioLaw AverageOf(RatioLaw one, int64_t rounds, RatioDirection direction) {
  RatioLaw power = std::move(one);
  TrimLaw(power, direction);
  RatioLaw result;
  bool some = false;
  for (int64_t left = rounds; left > 0; left >>= 1) {
    if ((left & 1) != 0) {
      result = some ? AverageOfTwo(result, power, direction) : power;
      some = true;
    }
    if (left > 1) power = AverageOfTwo(power, power, direction);
  }
  return result;
}

std::shared_ptr<const PrivacyProfile> ProfileOfAverage(const RatioLaw& law,
                                                       RatioDirection direction) {
  std::vector<double> ratios;
  std::vector<double> masses;
  const double error = law.relative_error + 8 * kUlp;
  if (direction == RatioDirection::kRemove) {
    for (size_t i = 0; i < law.values.size(); ++i) {
      ratios.push_back(law.values[i]);
      masses.push_back(static_cast<double>(law.masses[i]));
    }
    return std::make_shared<RatioTableProfile>(std::move(ratios), std::move(masses), law.left_out,
                                               error);
  }
  // The ratio is 1 / G, and what it is weighed with is the law with the record, of density G.
  for (size_t i = law.values.size() - 1; i > 0; --i) {
    ratios.push_back(RoundUp(1 / law.values[i]));
    masses.push_back(static_cast<double>(law.masses[i]) * law.values[i]);
  }
  const double told = RoundUpNonNegative(static_cast<double>(law.masses[0]) * (1 + error), 2);
  return std::make_shared<RatioTableProfile>(std::move(ratios), std::move(masses), told, error);
}

}  // namespace

RatioTableProfile::RatioTableProfile(std::vector<double> ratios, std::vector<double> masses,
                                     double infinity_mass, double relative_error)
    : ratios_(std::move(ratios)),
      delta_(ratios_.size()),
      tail_(ratios_.size()),
      infinity_mass_(std::min(1.0, infinity_mass)),
      relative_error_(relative_error + 4 * kUlp * static_cast<double>(ratios_.size() + 4)) {
  double delta = infinity_mass_;
  double tail = 0;
  for (size_t i = ratios_.size(); i-- > 0;) {
    if (i + 1 < ratios_.size()) delta += (ratios_[i + 1] - ratios_[i]) * tail;
    tail += masses[i];
    delta_[i] = delta;
    tail_[i] = tail;
  }
}

Bounds RatioTableProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  const double x = std::exp(epsilon);
  const auto above = std::upper_bound(ratios_.begin(), ratios_.end(), x);
  double delta = infinity_mass_;
  double moved = 0;
  if (above != ratios_.end()) {
    const auto i = static_cast<size_t>(above - ratios_.begin());
    delta = delta_[i] + (ratios_[i] - x) * tail_[i];
    moved = 2 * kUlp * x * tail_[i];
  }
  const double upper = (delta + moved) * (1 + 1.01 * relative_error_);
  const double lower = (delta - moved) * (1 - 1.01 * relative_error_);
  const double log_upper = upper > 0 ? RoundUp(std::log(upper) + kUlp, 2) : -kInfinity;
  const double log_lower = lower > 0 ? RoundDown(std::log(lower) - kUlp, 2) : -kInfinity;
  const double capped = std::min(0.0, std::max(floor.upper, log_upper));
  return Bounds{std::min(capped, std::max(floor.lower, log_lower)), capped};
}

Bounds RatioTableProfile::TailUnderQ(double epsilon) const {
  const double x = std::exp(epsilon);
  const auto tail_from = [&](std::vector<double>::const_iterator it) {
    return it == ratios_.end() ? 0.0 : tail_[static_cast<size_t>(it - ratios_.begin())];
  };
  const double lower =
      tail_from(std::upper_bound(ratios_.begin(), ratios_.end(), x * (1 + 4 * kUlp)));
  const double upper =
      tail_from(std::lower_bound(ratios_.begin(), ratios_.end(), x * (1 - 4 * kUlp)));
  return Bounds{std::min(1.0, RoundDownNonNegative(lower * (1 - relative_error_), 2)),
                std::min(1.0, RoundUpNonNegative(upper * (1 + relative_error_), 2))};
}

double RatioTableProfile::InfinityMass() const {
  return std::min(1.0, RoundUpNonNegative(infinity_mass_ * (1 + relative_error_), 2));
}

double RatioTableProfile::SmallestLoss() const {
  return ratios_.front() > 0 ? RoundDown(std::log(ratios_.front()) - 4 * kUlp, 4) : -kInfinity;
}

double RatioTableProfile::LargestLoss() const {
  return ratios_.back() > 0 ? RoundUp(std::log(ratios_.back()) + 4 * kUlp, 4) : -kInfinity;
}

DirectedProfiles RandomAllocationProfiles(const DirectedProfiles& inner, int64_t rounds) {
  if (rounds == 1) return inner;
  const int64_t counted = std::min(rounds, kMostRounds);
  const double high = std::max(2.0, EndOfRatios(*inner.remove));
  const double low = std::min(0.5, 1 / EndOfRatios(*inner.add));
  const double deviation = 2 * std::exp(inner.remove->LogDelta(0).upper);
  const RatioLaw remove = LawForRemove(*inner.remove, std::min(low, 1e-6), high, deviation);
  const RatioLaw add = LawForAdd(*inner.add, low, high, deviation);
  return DirectedProfiles{
      ProfileOfAverage(AverageOf(remove, counted, RatioDirection::kRemove),
                       RatioDirection::kRemove),
      ProfileOfAverage(AverageOf(add, counted, RatioDirection::kAdd), RatioDirection::kAdd)};
}

}  // namespace epsledger::accounting
