#include "accounting/profile/trade_off_curve_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// Rounding of the numbers that make up a value. Slopes of the hull are compared to 1e-12: a point
// dropped or missed within this is as good as the point used, up to this share of its gain.
constexpr double kSlack = 16 * kUlp;

}  // namespace

TradeOffCurveProfile::TradeOffCurveProfile(const TradeOffCurve& curve) {
  for (size_t i = 0; i < curve.type_one.size(); ++i) {
    const Point next{curve.type_one[i], curve.type_two[i]};
    while (hull_.size() >= 2) {
      const Point& a = hull_[hull_.size() - 2];
      const Point& b = hull_.back();
      const double left = (b.type_two - a.type_two) * (next.type_one - a.type_one);
      const double right = (next.type_two - a.type_two) * (b.type_one - a.type_one);
      if (left < right) break;  // b is below the chord
      hull_.pop_back();
    }
    hull_.push_back(next);
  }
  infinity_mass_ =
      hull_.front().type_two == 1 ? 0 : std::min(1.0, RoundUp(1 - hull_.front().type_two));
}

size_t TradeOffCurveProfile::Best(double x) const {
  size_t low = 0;
  size_t high = hull_.size() - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const double gain = hull_[middle].type_two - hull_[middle + 1].type_two;
    const double cost = x * (hull_[middle + 1].type_one - hull_[middle].type_one);
    if (gain > cost) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Bounds TradeOffCurveProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  const double x = std::exp(epsilon);
  if (x == kInfinity) return Bounds{-kInfinity, LogDelta(700).upper};
  const size_t at = Best(x);
  const Point& best = hull_[at];
  // (1 - f - a) - (x - 1) a: this form removes the cancellation beforehand.
  const double advantage = (1 - best.type_two) - best.type_one;
  const double taken = std::expm1(epsilon) * best.type_one;
  const double value = advantage - taken;
  // A point dropped from the hull or missed by the search is as good to within rounding of the
  // numbers that were compared.
  double error =
      kSlack * (std::abs(advantage) + std::abs(taken) + (1 - best.type_two) + x * best.type_one);
  if (at + 1 < hull_.size()) {
    const Point& next = hull_[at + 1];
    const double gain = best.type_two - next.type_two;
    if (gain >= x * (next.type_one - best.type_one) * (1 - 1e-12)) error += 2e-12 * gain;
  }
  if (value + error <= 0) return Bounds{floor.lower, floor.upper};
  const double lower = value > error ? std::log(value - error) : -kInfinity;
  return Bounds{std::max(floor.lower, RoundDown(lower, 2)),
                std::min(0.0, std::max(floor.upper, RoundUp(std::log(value + error), 2)))};
}

Bounds TradeOffCurveProfile::TailUnderQ(double epsilon) const {
  // The coordinate of the maximizing point; of both points where two are equally good within
  // rounding.
  const double x = std::exp(epsilon);
  if (x == kInfinity) return Bounds{0, hull_[Best(std::numeric_limits<double>::max())].type_one};
  const size_t steep = Best(x * (1 + 64 * kUlp));
  const size_t flat = Best(x * (1 - 64 * kUlp));
  const size_t before = steep > 0 ? steep - 1 : steep;
  const size_t after = std::min(flat + 1, hull_.size() - 1);
  const auto equal = [&](size_t i, size_t j) {
    const double gain = hull_[i].type_two - hull_[j].type_two;
    const double cost = x * (hull_[j].type_one - hull_[i].type_one);
    return std::abs(gain - cost) <= 256 * kUlp * (1 + cost);
  };
  const double lower = hull_[equal(before, steep) ? before : steep].type_one;
  const double upper = hull_[equal(flat, after) ? after : flat].type_one;
  return Bounds{lower, upper};
}

}  // namespace epsledger::accounting
