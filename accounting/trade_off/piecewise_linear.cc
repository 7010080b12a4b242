#include "accounting/trade_off/piecewise_linear.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// A tabulated curve may violate convexity and f <= 1 - x by this much, the effect of rounding to
// nine decimals.
constexpr double kShapeTolerance = 1e-9;
// Outcomes whose log ratios are this close become one.
constexpr double kEqualRatio = 1e-12;
// The error of a log ratio computed from masses above 1e-300: two logarithms below 700 in size.
constexpr double kLogRatioError = 4e-13;
// Masses below this may have lost their relative accuracy to underflow. Their sum is less than
// kNegligible.
constexpr double kUnderflow = 1e-290;
constexpr double kNegligible = 1e-280;

double LogRatio(const OutcomeMass& outcome) {
  if (outcome.null_mass == 0) return kInfinity;
  if (outcome.alternative_mass == 0) return -kInfinity;
  return std::log(outcome.alternative_mass) - std::log(outcome.null_mass);
}

// True if b is proved to lie above the line from a to c. A point that lies on it may stay.
template <class Vertex>
bool AboveChord(const Vertex& a, const Vertex& b, const Vertex& c) {
  const double rise = (b.type_two - a.type_two) * (c.type_one - a.type_one);
  const double chord = (c.type_two - a.type_two) * (b.type_one - a.type_one);
  return rise - chord > 4 * kUlp * (std::abs(rise) + std::abs(chord));
}

}  // namespace

absl::StatusOr<PiecewiseLinear> PiecewiseLinear::FromPoints(const std::vector<double>& type_one,
                                                            const std::vector<double>& type_two,
                                                            const std::string& field) {
  const std::string one = field + ".typeOne", two = field + ".typeTwo";
  const size_t n = type_one.size();
  if (n < 2) return OutOfDomain(one, absl::StrCat(n, " points"), "at least 2");
  if (type_two.size() != n) {
    return OutOfDomain(two, absl::StrCat(type_two.size(), " points"), absl::StrCat(n));
  }
  std::vector<Vertex> hull;
  for (size_t i = 0; i < n; ++i) {
    const std::string at = absl::StrCat("[", i, "]");
    const bool in_order = i == 0 ? type_one[i] == 0 : type_one[i] > type_one[i - 1];
    if (!in_order || !(type_one[i] <= 1) || (i + 1 == n && type_one[i] != 1)) {
      return OutOfDomain(one + at, FormatDouble(type_one[i]), "strictly increasing from 0 to 1");
    }
    const double most = i == 0 ? 1 : type_two[i - 1];
    if (!(type_two[i] >= 0 && type_two[i] <= most)) {
      return OutOfDomain(two + at, FormatDouble(type_two[i]),
                         absl::StrCat("in [0, ", FormatDouble(most), "], non-increasing"));
    }
    if (!(type_two[i] <= 1 - type_one[i] + kShapeTolerance)) {
      return OutOfDomain(two + at, FormatDouble(type_two[i]), "at most 1 - typeOne");
    }
    const Vertex next{type_one[i], std::min(type_two[i], 1 - type_one[i])};
    while (hull.size() >= 2 && AboveChord(hull[hull.size() - 2], hull.back(), next)) {
      hull.pop_back();
    }
    hull.push_back(next);
  }
  // The dropped points are above the hull, so the hull is nowhere above the interpolation.
  std::vector<OutcomeMass> outcomes;
  Vertex before{0, 1};
  for (const Vertex& vertex : hull) {
    outcomes.push_back(
        OutcomeMass{vertex.type_one - before.type_one, before.type_two - vertex.type_two});
    before = vertex;
  }
  PiecewiseLinear f = FromOutcomes(std::move(outcomes), 2 * kUlp);
  for (size_t i = 0; i < n; ++i) {
    const double most = f.At(type_one[i]).upper;
    if (!(type_two[i] <= most + kShapeTolerance)) {
      return OutOfDomain(absl::StrCat(two, "[", i, "]"), FormatDouble(type_two[i]),
                         absl::StrCat("at most ", FormatDouble(most), ", for a convex curve"));
    }
  }
  return f;
}

PiecewiseLinear PiecewiseLinear::FromOutcomes(std::vector<OutcomeMass> outcomes,
                                              double relative_error, bool underflow) {
  outcomes.erase(std::remove_if(outcomes.begin(), outcomes.end(),
                                [](const OutcomeMass& outcome) {
                                  return !(outcome.null_mass > 0 || outcome.alternative_mass > 0);
                                }),
                 outcomes.end());
  for (const OutcomeMass& outcome : outcomes) {
    underflow = underflow || (outcome.null_mass > 0 && outcome.null_mass < kUnderflow) ||
                (outcome.alternative_mass > 0 && outcome.alternative_mass < kUnderflow);
  }
  std::vector<double> ratio(outcomes.size());
  std::transform(outcomes.begin(), outcomes.end(), ratio.begin(), LogRatio);
  std::vector<size_t> order(outcomes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ratio[a] > ratio[b]; });

  PiecewiseLinear f;
  f.negligible_ = underflow ? kNegligible : 0;
  // Merging outcomes of equal ratio changes nothing. Outcomes of nearly equal ratio are merged
  // after moving their alternative masses by that difference: one more relative error. The error of
  // the ratios themselves, which decides the order, is another relative error.
  double merged_over = kLogRatioError;
  double first_ratio = std::numeric_limits<double>::quiet_NaN();
  for (const size_t i : order) {
    const bool equal = ratio[i] == first_ratio || first_ratio - ratio[i] <= kEqualRatio;
    if (!f.outcomes_.empty() && equal) {
      f.outcomes_.back().null_mass += outcomes[i].null_mass;
      f.outcomes_.back().alternative_mass += outcomes[i].alternative_mass;
      if (ratio[i] != first_ratio) {
        merged_over = std::max(merged_over, kLogRatioError + 2 * (first_ratio - ratio[i]));
      }
    } else {
      f.outcomes_.push_back(outcomes[i]);
      first_ratio = ratio[i];
    }
  }
  // Outcomes whose order is certain need no allowance: at most two pieces of finite ratio, or
  // ratios that are far apart, cannot be confused.
  double closest = kInfinity;
  for (size_t k = 1; k < f.outcomes_.size(); ++k) {
    closest = std::min(closest, LogRatio(f.outcomes_[k - 1]) - LogRatio(f.outcomes_[k]));
  }
  const bool order_certain =
      merged_over == kLogRatioError && closest > 1e-9 && f.outcomes_.size() == outcomes.size();
  if (order_certain) merged_over = 0;
  // Sums of n positive numbers, from either end.
  f.relative_error_ =
      relative_error + merged_over + kUlp * (8 + static_cast<double>(outcomes.size()));
  f.vertices_.resize(f.outcomes_.size() + 1);
  f.vertices_[0].type_one = 0;
  f.vertices_[f.outcomes_.size()].type_two = 0;
  for (size_t k = 0; k < f.outcomes_.size(); ++k) {
    f.vertices_[k + 1].type_one = f.vertices_[k].type_one + f.outcomes_[k].null_mass;
  }
  for (size_t k = f.outcomes_.size(); k > 0; --k) {
    f.vertices_[k - 1].type_two = f.vertices_[k].type_two + f.outcomes_[k - 1].alternative_mass;
  }
  return f;
}

PiecewiseLinear PiecewiseLinear::ApproximateDp(double epsilon, double delta) {
  if (epsilon == 0) return FromOutcomes({{0, delta}, {1 - delta, 1 - delta}, {delta, 0}}, 2 * kUlp);
  const double likely = (1 - delta) / (1 + std::exp(-epsilon));
  const double unlikely = likely * std::exp(-epsilon);
  return FromOutcomes({{0, delta}, {unlikely, likely}, {likely, unlikely}, {delta, 0}}, 6 * kUlp);
}

double PiecewiseLinear::Interpolate(double alpha) const {
  // The first vertex beyond alpha.
  const auto after = std::upper_bound(vertices_.begin(), vertices_.end(), alpha,
                                      [](double a, const Vertex& v) { return a < v.type_one; });
  if (after == vertices_.end()) return vertices_.back().type_two;
  if (after == vertices_.begin()) return vertices_.front().type_two;
  const Vertex& a = *(after - 1);
  const Vertex& b = *after;
  const OutcomeMass& piece = outcomes_[after - vertices_.begin() - 1];
  const double share = std::min(1.0, (b.type_one - alpha) / (b.type_one - a.type_one));
  return b.type_two + piece.alternative_mass * share;
}

Bounds PiecewiseLinear::At(double alpha) const {
  if (std::isnan(alpha)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  alpha = std::max(alpha, 0.0);
  // The rounding of the piece itself adds to the error of the masses.
  const double e = relative_error_ + 16 * kUlp;
  const double above = RoundUp(alpha * (1 + e)) + (alpha > 0 ? negligible_ : 0);
  const double below = RoundDownNonNegative(alpha * (1 - e) - negligible_);
  // With no null mass the type I error is exactly 0: only the vertex there counts.
  const double lower = Interpolate(above) * (1 - e) - negligible_;
  const double upper = Interpolate(below) * (1 + 2 * e) + negligible_;
  const double ceiling = std::min(1.0, RoundUp(1 - alpha));
  return Bounds{std::clamp(RoundDown(lower), 0.0, ceiling),
                std::clamp(RoundUp(upper), 0.0, ceiling)};
}

Bounds PiecewiseLinear::Delta(double epsilon) const {
  if (std::isnan(epsilon)) return Bounds{0, 1};
  const double x = std::exp(epsilon);
  const double e = relative_error_ + 16 * kUlp;
  double upper = 0, lower = 0;
  for (const OutcomeMass& outcome : outcomes_) {
    const double spent = outcome.null_mass == 0 ? 0 : x * outcome.null_mass;
    upper += std::max(0.0, outcome.alternative_mass * (1 + e) - spent * (1 - e));
    lower += std::max(0.0, outcome.alternative_mass * (1 - e) - spent * (1 + e));
  }
  const double n = static_cast<double>(outcomes_.size()) + 2;
  upper = RoundUpNonNegative(upper, n) + negligible_;
  if (negligible_ > 0) lower -= negligible_ * (1 + std::min(x, 1e270));
  lower = RoundDownNonNegative(lower, n);
  const double floor = RoundDownNonNegative(-std::expm1(epsilon), 2);
  upper = std::min(1.0, std::max(upper, floor));
  return Bounds{std::min(upper, std::max(lower, floor)), upper};
}

PiecewiseLinear PiecewiseLinear::Inverse() const {
  std::vector<OutcomeMass> swapped;
  swapped.reserve(outcomes_.size());
  for (const OutcomeMass& outcome : outcomes_) {
    swapped.push_back(OutcomeMass{outcome.alternative_mass, outcome.null_mass});
  }
  return FromOutcomes(std::move(swapped), relative_error_, underflowed());
}

}  // namespace epsledger::accounting
