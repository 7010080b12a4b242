#include "accounting/profile/mixed_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {

MixedProfile::MixedProfile(std::vector<Part> parts, double revealed)
    : parts_(std::move(parts)),
      revealed_(revealed),
      excess_(0),
      smallest_loss_(kInfinity),
      largest_loss_(-kInfinity) {
  double total = revealed_;
  for (const Part& part : parts_) {
    total += part.weight;
    smallest_loss_ = std::min(smallest_loss_, part.profile->SmallestLoss());
    largest_loss_ = std::max(largest_loss_, part.profile->LargestLoss());
  }
  excess_ = std::max(0.0, RoundUp(RoundUp(total, static_cast<double>(parts_.size())) - 1));
}

Bounds MixedProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  const double log_revealed = revealed_ > 0 ? std::log(revealed_) : -kInfinity;
  Bounds sum{log_revealed, log_revealed};
  double magnitude = revealed_ > 0 ? -log_revealed : 0;
  for (const Part& part : parts_) {
    const Bounds one = part.profile->LogDelta(epsilon);
    const double log_weight = std::log(part.weight);
    sum.lower = LogAddExp(sum.lower, log_weight + one.lower);
    sum.upper = LogAddExp(sum.upper, log_weight + one.upper);
    for (const double log_delta : {one.lower, one.upper}) {
      if (log_delta > -kInfinity) magnitude = std::max(magnitude, -log_weight - log_delta);
    }
  }
  // Each sum is off by 4 ulp of its result, and each term by two of its logarithm.
  const double error = kUlp * (4 * static_cast<double>(parts_.size() + 2) + 4 * magnitude);
  const double upper = std::min(0.0, std::max(floor.upper, NextUp(sum.upper + error)));
  const double least = RoundDownNonNegative(std::exp(sum.lower - error) - excess_, 2);
  return Bounds{std::min(upper, std::max(floor.lower, RoundDown(std::log(least), 2))),
                sum.upper == -kInfinity ? floor.upper : upper};
}

Bounds MixedProfile::TailUnderQ(double epsilon) const {
  Bounds sum{0, 0};
  bool some = false;
  for (const Part& part : parts_) {
    const Bounds one = part.profile->TailUnderQ(epsilon);
    sum.lower += part.weight * one.lower;
    sum.upper += part.weight * one.upper;
    some = some || one.upper > 0;
  }
  return Rounded(sum, some);
}

Bounds MixedProfile::Rounded(Bounds sum, bool some) const {
  const double operations = 2 * static_cast<double>(parts_.size()) + 2;
  const double least = RoundDownNonNegative(sum.lower, operations) - excess_;
  return Bounds{std::min(1.0, RoundDownNonNegative(least)),
                some ? std::min(1.0, RoundUp(sum.upper, operations)) : 0};
}

ProfilePoint MixedProfile::Around(double epsilon, double error) const {
  ProfilePoint sum{{revealed_, revealed_}, {0, 0}};
  bool some_delta = revealed_ > 0;
  bool some_tail = false;
  for (const Part& part : parts_) {
    const ProfilePoint one = part.profile->Around(epsilon, error);
    sum.delta.lower += part.weight * one.delta.lower;
    sum.delta.upper += part.weight * one.delta.upper;
    sum.tail.lower += part.weight * one.tail.lower;
    sum.tail.upper += part.weight * one.tail.upper;
    some_delta = some_delta || one.delta.upper > 0;
    some_tail = some_tail || one.tail.upper > 0;
  }
  return ProfilePoint{Rounded(sum.delta, some_delta), Rounded(sum.tail, some_tail)};
}

double MixedProfile::InfinityMass() const {
  double mass = revealed_;
  for (const Part& part : parts_) mass += part.weight * part.profile->InfinityMass();
  return std::min(1.0, RoundUpNonNegative(mass, static_cast<double>(parts_.size()) + 2));
}

double MixedProfile::AtomSpacing() const {
  const auto heaviest =
      std::max_element(parts_.begin(), parts_.end(),
                       [](const Part& a, const Part& b) { return a.weight < b.weight; });
  return heaviest->profile->AtomSpacing();
}

double MixedProfile::Cost() const {
  double cost = 1;
  for (const Part& part : parts_) cost += part.profile->Cost();
  return cost;
}

LargerProfile::LargerProfile(std::shared_ptr<const PrivacyProfile> a,
                             std::shared_ptr<const PrivacyProfile> b)
    : a_(std::move(a)), b_(std::move(b)) {}

Bounds LargerProfile::LogDelta(double epsilon) const {
  const Bounds a = a_->LogDelta(epsilon);
  const Bounds b = b_->LogDelta(epsilon);
  return Bounds{std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Bounds LargerProfile::TailUnderQ(double epsilon) const {
  // The slope of the larger; of both where they are equal, or near enough to be.
  const Bounds delta_a = a_->LogDelta(epsilon);
  const Bounds delta_b = b_->LogDelta(epsilon);
  if (delta_a.lower > delta_b.upper) return a_->TailUnderQ(epsilon);
  if (delta_b.lower > delta_a.upper) return b_->TailUnderQ(epsilon);
  const Bounds a = a_->TailUnderQ(epsilon);
  const Bounds b = b_->TailUnderQ(epsilon);
  return Bounds{std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

ProfilePoint LargerProfile::Around(double epsilon, double error) const {
  const ProfilePoint a = a_->Around(epsilon, error);
  const ProfilePoint b = b_->Around(epsilon, error);
  return ProfilePoint{
      {std::max(a.delta.lower, b.delta.lower), std::max(a.delta.upper, b.delta.upper)},
      {std::min(a.tail.lower, b.tail.lower), std::max(a.tail.upper, b.tail.upper)}};
}

double LargerProfile::InfinityMass() const {
  return std::max(a_->InfinityMass(), b_->InfinityMass());
}

double LargerProfile::SmallestLoss() const {
  return std::min(a_->SmallestLoss(), b_->SmallestLoss());
}

double LargerProfile::LargestLoss() const { return std::max(a_->LargestLoss(), b_->LargestLoss()); }

}  // namespace epsledger::accounting
