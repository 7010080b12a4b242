#include "accounting/event/mechanism_event.h"

#include <limits>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

MechanismEvent Sampled(double q, double z) {
  return PoissonSampled{q, MechanismEvent(Gaussian{z})};
}

TEST(MechanismEvent, EqualsFieldForField) {
  EXPECT_EQ(Sampled(0.01, 1.1), Sampled(0.01, 1.1));
  EXPECT_NE(Sampled(0.01, 1.1), Sampled(0.01, 1.2));
  EXPECT_NE(Sampled(0.01, 1.1), MechanismEvent(Gaussian{1.1}));
  EXPECT_NE(MechanismEvent(PureDp{1}), MechanismEvent(PermuteAndFlip{1}));
  EXPECT_EQ(MechanismEvent(Composed{{{Sampled(0.1, 1), 3}, {MechanismEvent(PureDp{1}), 1}}}),
            MechanismEvent(Composed{{{Sampled(0.1, 1), 3}, {MechanismEvent(PureDp{1}), 1}}}));
  EXPECT_NE(MechanismEvent(Composed{{{Sampled(0.1, 1), 3}}}),
            MechanismEvent(Composed{{{Sampled(0.1, 1), 4}}}));
  EXPECT_NE(MechanismEvent(RenyiCurve{{2, 3}, {1, 2}}), MechanismEvent(RenyiCurve{{2}, {1}}));
}

TEST(MechanismEvent, ZeroHasNoSignAndNaNEqualsNothing) {
  EXPECT_EQ(MechanismEvent(PureDp{0.0}), MechanismEvent(PureDp{-0.0}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(MechanismEvent(PureDp{nan}), MechanismEvent(PureDp{nan}));
}

TEST(Describe, SpeaksTheJsonOfTheEventInOneLine) {
  EXPECT_EQ(Describe(Sampled(0.01, 1.1)),
            "poissonSampled{samplingProbability: 0.01, event: gaussian{noiseMultiplier: 1.1}}");
  EXPECT_EQ(Describe(Composed{{{MechanismEvent(PureDp{0.5}), 7}}}),
            "composed{events: [{event: pureDp{epsilon: 0.5}, count: 7}]}");
  EXPECT_EQ(Describe(UnverifiedClaim{1, 1e-9, "a \"b\"\n"}),
            "unverifiedClaim{epsilon: 1, delta: 1e-09, citation: \"a \\\"b\\\"?\"}");
  EXPECT_EQ(Describe(ReportNoisyMax{Noise::kGumbel, 2, true}),
            "reportNoisyMax{noise: GUMBEL, noiseMultiplier: 2, monotonic: true}");
  EXPECT_EQ(Describe(ReportNoisyMax{}),
            "reportNoisyMax{noise: KIND_UNSPECIFIED, noiseMultiplier: 0, monotonic: false}");
  EXPECT_EQ(Describe(SelfComposed{}), "selfComposed{event: null, count: 0}");
  EXPECT_EQ(Describe(Gaussian{std::numeric_limits<double>::infinity()}),
            "gaussian{noiseMultiplier: Infinity}");
}

TEST(JsonName, TurnsSnakeCaseIntoCamelCase) {
  EXPECT_EQ(JsonName("noise_multiplier"), "noiseMultiplier");
  EXPECT_EQ(JsonName("sampled_without_replacement"), "sampledWithoutReplacement");
  EXPECT_EQ(JsonName("mu"), "mu");
  EXPECT_EQ(JsonName(""), "");
}

}  // namespace
}  // namespace epsledger::accounting
