#include "accounting/profile/privacy_profile.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// Binary randomized response of log 3 that reveals all with probability 1/8: L = +-log 3 under P
// with masses 7/8 of 3/4 and 1/4, and +inf.
class Revealing final : public PrivacyProfile {
 public:
  Bounds LogDelta(double epsilon) const override {
    const double delta =
        0.125 + 0.875 * (Positive(0.75, 0.25, epsilon) + Positive(0.25, 0.75, epsilon));
    return Bounds{std::log(delta) - 1e-15, std::min(0.0, std::log(delta) + 1e-15)};
  }
  Bounds TailUnderQ(double epsilon) const override {
    const double tail = 0.875 * (epsilon < -std::log(3.0)  ? 1.0
                                 : epsilon < std::log(3.0) ? 0.25
                                                           : 0.0);
    return Bounds{tail, tail};
  }
  double InfinityMass() const override { return 0.125; }

 private:
  static double Positive(double p, double q, double epsilon) {
    return std::max(0.0, p - q * std::exp(epsilon));
  }
};

TEST(PrivacyProfile, AnswersAPointByItsTwoFunctions) {
  const Revealing profile;
  for (const double epsilon : {-3.0, -0.5, 0.0, 0.5, 3.0}) {
    const ProfilePoint point = profile.At(epsilon);
    const Bounds log_delta = profile.LogDelta(epsilon);
    EXPECT_LT(point.delta.lower, std::exp(log_delta.lower));
    EXPECT_GE(point.delta.upper, std::min(1.0, std::exp(log_delta.upper)));
    EXPECT_LT(point.delta.upper - point.delta.lower, 1e-14);
    EXPECT_EQ(point.tail.lower, profile.TailUnderQ(epsilon).lower);
    EXPECT_EQ(point.tail.upper, profile.TailUnderQ(epsilon).upper);
  }
}

TEST(PrivacyProfile, AnswersAnIntervalByItsEnds) {
  const Revealing profile;
  const ProfilePoint around = profile.Around(1, 0.5);
  EXPECT_LE(around.delta.lower, profile.At(1.5).delta.lower);
  EXPECT_GE(around.delta.upper, profile.At(0.5).delta.upper);
  EXPECT_EQ(around.tail.lower, profile.TailUnderQ(1.5).lower);
  EXPECT_EQ(around.tail.upper, profile.TailUnderQ(0.5).upper);
}

TEST(PrivacyProfile, AnswersTheEndsOfTheLine) {
  const Revealing profile;
  const ProfilePoint beyond = profile.Around(kInfinity, 0);
  EXPECT_EQ(beyond.delta.lower, 0);
  EXPECT_GE(beyond.delta.upper, 0.125);
  EXPECT_LT(beyond.delta.upper, 0.125 + 1e-15);
  EXPECT_EQ(beyond.tail.upper, 0);
  const ProfilePoint before = profile.Around(-kInfinity, 0);
  EXPECT_EQ(before.delta.lower, 1);
  EXPECT_LE(before.tail.lower, 0.875);  // Q[L = -inf] = 1/8: revealed, too
  EXPECT_EQ(before.tail.upper, 1);
  // What is not known is not promised.
  for (const double epsilon : {0.0, kInfinity, -kInfinity}) {
    const ProfilePoint any = profile.Around(epsilon, kInfinity);
    EXPECT_EQ(any.delta.lower, 0);
    EXPECT_EQ(any.delta.upper, 1);
    EXPECT_EQ(any.tail.lower, 0);
    EXPECT_EQ(any.tail.upper, 1);
  }
  for (const ProfilePoint& point : {profile.At(std::nan("")), profile.Around(0, std::nan(""))}) {
    EXPECT_EQ(point.delta.lower, 0);
    EXPECT_EQ(point.delta.upper, 1);
    EXPECT_EQ(point.tail.upper, 1);
  }
}

}  // namespace
}  // namespace epsledger::accounting
