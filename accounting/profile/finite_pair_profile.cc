#include "accounting/profile/finite_pair_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/compensated_sum.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// Below this epsilon only 1 - e^epsilon <= delta <= 1 is used: 1 - e^-600 is 1 as a double.
constexpr double kSmallestEpsilon = -600;
// Tiny outcomes (FinitePair) leave less than this under Q at the epsilons above.
constexpr double kTinyTail = 1e-285;
// Ratios of logarithms this near to whole numbers are on one lattice: a hint, not a bound.
constexpr double kSpacingTolerance = 1e-9;

// Returns the smallest positive |log ratio| if all others are multiples of it, else 0.
double SpacingOf(const std::vector<double>& ratios, double relative_error) {
  double spacing = kInfinity;
  std::vector<double> losses;
  for (const double ratio : ratios) {
    losses.push_back(std::abs(std::log(ratio)));
    if (losses.back() > kSpacingTolerance) spacing = std::min(spacing, losses.back());
  }
  if (spacing == kInfinity) return 0;
  for (const double loss : losses) {
    const double multiple = loss / spacing;
    if (std::abs(multiple - std::round(multiple)) > kSpacingTolerance * (1 + multiple)) return 0;
  }
  return RoundUp(spacing + 2 * relative_error, 3);
}

}  // namespace

FinitePairProfile::FinitePairProfile(const FinitePair& pair)
    : only_p_(pair.only_p),
      q_has_more_(pair.only_q.upper > 0),
      tiny_tail_(pair.has_tiny ? kTinyTail : 0),
      relative_error_(pair.relative_error),
      smallest_loss_(0),
      largest_loss_(0) {
  CompensatedSum tail;
  CompensatedSum model;
  for (const auto& [ratio, q] : pair.outcomes) {
    if (!ratios_.empty()) model.Add(tail_.back() * (ratios_.back() - ratio));
    tail.Add(q);
    ratios_.push_back(ratio);
    model_.push_back(model.value());
    tail_.push_back(tail.value());
  }
  if (!ratios_.empty()) {
    largest_loss_ = RoundUp(std::log(ratios_.front()) + 2 * relative_error_, 3);
    smallest_loss_ = RoundDown(std::log(ratios_.back()) - 2 * relative_error_, 3);
  }
  if (pair.has_tiny) smallest_loss_ = -kInfinity;
  atom_spacing_ = SpacingOf(ratios_, relative_error_);
}

double FinitePairProfile::LowX(double epsilon) const {
  return RoundDown(std::exp(epsilon) / (1 + relative_error_), 4);
}

double FinitePairProfile::HighX(double epsilon) const {
  return RoundUp(std::exp(epsilon) / (1 - relative_error_), 4);
}

size_t FinitePairProfile::Above(double x) const {
  const auto end =
      std::partition_point(ratios_.begin(), ratios_.end(), [x](double ratio) { return ratio > x; });
  return static_cast<size_t>(end - ratios_.begin());
}

// Relative error 4 ulp: of a difference, a product and two sums of positive numbers.
double FinitePairProfile::Model(double x) const {
  const size_t above = Above(x);
  if (above == 0) return 0;
  return model_[above - 1] + tail_[above - 1] * (ratios_[above - 1] - x);
}

double FinitePairProfile::DeltaUpper(double epsilon) const {
  if (epsilon <= kSmallestEpsilon) return 1;
  if (epsilon >= largest_loss_) return only_p_.upper;
  const double model = RoundUp(Model(LowX(epsilon)), 4);
  const double factor = (1 + relative_error_) * (1 + relative_error_);
  return std::min(1.0, RoundUp(model * factor + only_p_.upper, 4));
}

double FinitePairProfile::DeltaLower(double epsilon) const {
  if (epsilon <= kSmallestEpsilon) return 0;
  if (epsilon >= largest_loss_) return only_p_.lower;
  const double model = RoundDownNonNegative(Model(HighX(epsilon)), 4);
  const double factor = (1 - relative_error_) * (1 - relative_error_);
  return RoundDownNonNegative(model * factor + only_p_.lower, 4);
}

Bounds FinitePairProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  // Q has nothing below the smallest loss, so both laws are above it: delta is 1 - e^epsilon.
  if (epsilon <= smallest_loss_ && !q_has_more_) return floor;
  const double lower = DeltaLower(epsilon);
  const double upper = DeltaUpper(epsilon);
  return Bounds{
      std::max(floor.lower, lower > 0 ? RoundDown(std::log(lower), 2) : -kInfinity),
      std::min(0.0, std::max(floor.upper, upper > 0 ? RoundUp(std::log(upper), 2) : -kInfinity))};
}

double FinitePairProfile::TailUpper(double epsilon) const {
  if (epsilon <= kSmallestEpsilon) return 1;
  // A ratio of exactly e^epsilon counts: the tail is closed.
  const size_t count = epsilon > largest_loss_ ? 0 : Above(NextDown(LowX(epsilon)));
  if (count == 0) return tiny_tail_;
  return std::min(1.0, RoundUp(tail_[count - 1] * (1 + relative_error_) + tiny_tail_, 4));
}

double FinitePairProfile::TailLower(double epsilon) const {
  if (epsilon <= kSmallestEpsilon) return 0;
  if (epsilon < smallest_loss_ && !q_has_more_) return 1;
  const size_t count = Above(HighX(epsilon));
  if (count == 0) return 0;
  return RoundDownNonNegative(tail_[count - 1] * (1 - relative_error_), 4);
}

Bounds FinitePairProfile::TailUnderQ(double epsilon) const {
  return Bounds{TailLower(epsilon), TailUpper(epsilon)};
}

ProfilePoint FinitePairProfile::Around(double epsilon, double error) const {
  const double low = error == 0 ? epsilon : NextDown(epsilon - error);
  const double high = error == 0 ? epsilon : NextUp(epsilon + error);
  if (!std::isfinite(low) || !std::isfinite(high)) return PrivacyProfile::Around(epsilon, error);
  return ProfilePoint{
      .delta = {std::max(DeltaLower(high), RoundDownNonNegative(-std::expm1(high), 2)),
                std::min(1.0,
                         std::max(DeltaUpper(low), low < 0 ? RoundUp(-std::expm1(low), 2) : 0))},
      .tail = {TailLower(high), TailUpper(low)}};
}

}  // namespace epsledger::accounting
