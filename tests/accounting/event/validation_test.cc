#include "accounting/event/validation.h"
#include "accounting/numeric/constants.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string Message(const MechanismEvent& event) {
  return std::string(Validate(event, "events[0].event").message());
}

TEST(Validate, NamesTheFieldItsValueAndTheDomain) {
  EXPECT_EQ(Message(PoissonSampled{1.5, MechanismEvent(Gaussian{1})}),
            "events[0].event.poissonSampled.samplingProbability: got 1.5, want in [0, 1]");
  EXPECT_EQ(Message(PoissonSampled{0.5, MechanismEvent(Gaussian{-1})}),
            "events[0].event.poissonSampled.event.gaussian.noiseMultiplier: got -1, want in [0, "
            "inf)");
  EXPECT_EQ(Validate(CountedEvent{MechanismEvent(PureDp{1}), 0}, "events[3]").message(),
            "events[3].count: got 0, want in [1, 9007199254740992]");
  EXPECT_THAT(Message(Composed{{{MechanismEvent(PureDp{1}), 1}, {MechanismEvent(PureDp{-1}), 1}}}),
              StartsWith("events[0].event.composed.events[1].event.pureDp.epsilon: got -1"));
  EXPECT_THAT(Message(SelfComposed{}), HasSubstr("selfComposed.count: got 0"));
  EXPECT_THAT(Message(SelfComposed{{}, 1}), HasSubstr("selfComposed.event: got nothing"));
}

TEST(Validate, RefusesWhatIsInNoDomain) {
  for (const double x : {-1.0, kInfinity, -kInfinity, kNaN}) {
    EXPECT_FALSE(Validate(MechanismEvent(Gaussian{x}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(Laplace{x}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(DiscreteGaussian{x, 1}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(RandomizedResponse{x, 2}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(TreeAggregation{x, 1}), "").ok()) << x;
  }
  for (const double x : {-1e-300, kInfinity, kNaN}) {
    EXPECT_FALSE(Validate(MechanismEvent(PureDp{x}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(Zcdp{0, x}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(GaussianDp{x}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(ApproximateDp{0, x}), "").ok()) << x;
    EXPECT_FALSE(Validate(MechanismEvent(UnverifiedClaim{x, 0, ""}), "").ok()) << x;
  }
  EXPECT_FALSE(Validate(MechanismEvent(ApproximateDp{0, 1.0000001}), "").ok());
  EXPECT_FALSE(Validate(MechanismEvent(RandomizedResponse{1, 2}), "").ok());
  EXPECT_FALSE(Validate(MechanismEvent(DiscreteLaplace{0, 1}), "").ok());
}

TEST(Validate, AcceptsTheEndsOfEveryDomain) {
  for (const double x : {0.0, 1e-308, 5e-324, 1e308}) {
    EXPECT_TRUE(Validate(MechanismEvent(PureDp{x}), "").ok()) << x;
    EXPECT_TRUE(Validate(MechanismEvent(GaussianDp{x}), "").ok()) << x;
  }
  for (const double x : {5e-324, 1e308}) {
    EXPECT_TRUE(Validate(MechanismEvent(Gaussian{x}), "").ok()) << x;
  }
  EXPECT_TRUE(Validate(MechanismEvent(PoissonSampled{1, MechanismEvent(Gaussian{1})}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(PoissonSampled{0, MechanismEvent(Gaussian{1})}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(Composed{}), "").ok());
  for (const MechanismEvent& exact :
       {MechanismEvent(Gaussian{0}), MechanismEvent(Laplace{0}),
        MechanismEvent(DiscreteGaussian{0, 1}), MechanismEvent(RandomizedResponse{0, 2}),
        MechanismEvent(TreeAggregation{0, 1})}) {
    EXPECT_TRUE(Validate(exact, "").ok()) << Describe(exact);
  }
  EXPECT_TRUE(Validate(MechanismEvent(ApproximateDp{0, 1}), "").ok());
  EXPECT_TRUE(Validate(CountedEvent{MechanismEvent(PureDp{1}), kMaxEventCount}, "").ok());
}

TEST(Validate, HoldsCurvesToTheirShape) {
  EXPECT_TRUE(Validate(MechanismEvent(RenyiCurve{{2, 3}, {0, 1}}), "").ok());
  EXPECT_THAT(Message(RenyiCurve{{}, {}}), HasSubstr("renyiCurve.orders: got 0 points"));
  EXPECT_THAT(Message(RenyiCurve{{2, 3}, {1}}), HasSubstr("renyiCurve.divergences: got 1 points"));
  EXPECT_THAT(Message(RenyiCurve{{1, 3}, {1, 1}}), HasSubstr("orders[0]: got 1, want in (1, inf)"));
  EXPECT_THAT(Message(RenyiCurve{{3, 3}, {1, 1}}), HasSubstr("orders[1]: got 3, want more than 3"));
  EXPECT_TRUE(Validate(MechanismEvent(TradeOffCurve{{0, 0.5, 1}, {1, 0.2, 0}}), "").ok());
  EXPECT_FALSE(Validate(MechanismEvent(TradeOffCurve{{0, 0.5, 1}, {1, 0.6, 0}}), "").ok());
  EXPECT_FALSE(Validate(MechanismEvent(TradeOffCurve{{0, 0.5}, {1, 0.5}}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(MixtureOfGaussians{1, {0, 1}, {0.9, 0.1}}), "").ok());
  EXPECT_THAT(Message(MixtureOfGaussians{1, {0, 1}, {0.9, 0.2}}), HasSubstr("want a sum of 1"));
}

TEST(Validate, HoldsBothLawsOfAPairToOne) {
  EXPECT_TRUE(Validate(MechanismEvent(DominatingPair{{1}, {1}}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(DominatingPair{{1, 0}, {0, 1}}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(DominatingPair{{1 - 0x1p-30, 0}, {0.5, 0.5}}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(DominatingPair{{1, 0x1p-40}, {0.5, 0.5}}), "").ok());
  EXPECT_EQ(Message(DominatingPair{{0.5, 0.5}, {0.5, 0.25}}),
            "events[0].event.dominatingPair.secondProbabilities: got a sum of 0.75, want a sum in "
            "[1 - 1e-9, 1 + 2^-40], with probabilities rounded down");
  EXPECT_THAT(Message(DominatingPair{{1, 0x1p-39}, {0.5, 0.5}}),
              HasSubstr("firstProbabilities: got a sum of 1.0000000000018"));
  EXPECT_THAT(Message(DominatingPair{{1 - 0x1p-29}, {1}}), HasSubstr("firstProbabilities: got"));
  EXPECT_THAT(Message(DominatingPair{{0.5, 0.5}, {1}}),
              HasSubstr("secondProbabilities: got 1 points, want 2"));
  EXPECT_THAT(Message(DominatingPair{{}, {}}), HasSubstr("got 0 points, want 1 to 10000 points"));
  EXPECT_THAT(Message(DominatingPair{{1.5, -0.5}, {0.5, 0.5}}),
              HasSubstr("firstProbabilities[0]: got 1.5, want in [0, 1]"));
  EXPECT_THAT(Message(DominatingPair{{kNaN, 1}, {0.5, 0.5}}),
              HasSubstr("firstProbabilities[0]: got NaN"));
  const std::vector<double> many(10000, 1e-4);
  EXPECT_TRUE(Validate(MechanismEvent(DominatingPair{many, many}), "").ok());
  const std::vector<double> too_many(16384, 0x1p-14);
  EXPECT_FALSE(Validate(MechanismEvent(DominatingPair{too_many, too_many}), "").ok());
}

MatrixMechanism Banded() {
  MatrixMechanism mechanism;
  mechanism.noise_multiplier = 1;
  mechanism.strategy = MatrixStrategy::kToeplitz;
  mechanism.steps = 10;
  mechanism.max_participations = 2;
  mechanism.min_separation = 5;
  mechanism.coefficients = {1, 0.5};
  return mechanism;
}

TEST(Validate, HoldsAMatrixMechanismToItsParticipation) {
  EXPECT_TRUE(Validate(MechanismEvent(Banded()), "").ok());
  MatrixMechanism mechanism = Banded();
  mechanism.max_participations = 11;
  EXPECT_EQ(Message(mechanism),
            "events[0].event.matrixMechanism.maxParticipations: got 11, want in [1, 10]");
  mechanism = Banded();
  mechanism.min_separation = 0;
  EXPECT_THAT(Message(mechanism), HasSubstr("minSeparation: got 0, want in [1, 10]"));
  mechanism = Banded();
  mechanism.steps = kMaxToeplitzSteps + 1;
  EXPECT_THAT(Message(mechanism), HasSubstr("steps: got 32769, want in [1, 32768]"));
  mechanism = Banded();
  mechanism.noise_multiplier = 0;
  EXPECT_THAT(Message(mechanism), HasSubstr("noiseMultiplier: got 0, want in (0, inf)"));
}

TEST(Validate, HoldsAMatrixMechanismToTheFieldsOfItsStrategy) {
  MatrixMechanism mechanism = Banded();
  mechanism.strategy = {};
  EXPECT_THAT(Message(mechanism), HasSubstr("strategy: got KIND_UNSPECIFIED, want MATRIX, "));
  mechanism.strategy = static_cast<MatrixStrategy>(7);
  EXPECT_THAT(Message(mechanism), HasSubstr("strategy: got 7, want MATRIX, "));
  mechanism.strategy = MatrixStrategy::kIdentity;
  EXPECT_THAT(Message(mechanism),
              HasSubstr("coefficients: got 2 points, want none with this strategy"));
  mechanism.strategy = MatrixStrategy::kMatrix;
  EXPECT_THAT(Message(mechanism), HasSubstr("entries: got 0 points, want 1 to 10000"));
  mechanism.entries.assign(15, 1);
  EXPECT_THAT(Message(mechanism), HasSubstr("entries: got 15 points, want rows of 10 each"));
  mechanism.entries.assign(20, 1);
  mechanism.coefficients.clear();
  EXPECT_TRUE(Validate(MechanismEvent(mechanism), "").ok());
  mechanism.entries[7] = 1e31;
  EXPECT_THAT(Message(mechanism), HasSubstr("entries[7]: got 1e+31, want in [-1e+30, 1e+30]"));
  mechanism = Banded();
  mechanism.coefficients.assign(11, 1);
  EXPECT_THAT(Message(mechanism), HasSubstr("coefficients: got 11 points, want 1 to 10"));
  mechanism.coefficients = {kNaN};
  EXPECT_THAT(Message(mechanism), HasSubstr("coefficients[0]: got NaN"));
  mechanism = Banded();
  mechanism.bands = 1;
  EXPECT_THAT(Message(mechanism), HasSubstr("bands: got 1, want in [0, 0]"));
  mechanism.strategy = MatrixStrategy::kSquareRoot;
  mechanism.coefficients.clear();
  EXPECT_TRUE(Validate(MechanismEvent(mechanism), "").ok());
  mechanism.bands = 11;
  EXPECT_THAT(Message(mechanism), HasSubstr("bands: got 11, want in [1, 10]"));
  mechanism.strategy = MatrixStrategy::kBufferedToeplitz;
  mechanism.bands = 0;
  mechanism.output_scales = {0.5};
  EXPECT_THAT(Message(mechanism), HasSubstr("decays: got 0 points, want 1 to 16"));
  mechanism.decays = {1, 1};
  EXPECT_THAT(Message(mechanism), HasSubstr("decays: got 2 points, want 1, one for each"));
  mechanism.decays = {1.5};
  EXPECT_THAT(Message(mechanism), HasSubstr("decays[0]: got 1.5, want in [0, 1]"));
  mechanism.decays = {1};
  EXPECT_TRUE(Validate(MechanismEvent(mechanism), "").ok());
}

TEST(Validate, BoundsDepthSizeAndText) {
  MechanismEvent deep = PureDp{1};
  for (int i = 1; i < kMaxEventDepth; ++i) deep = SelfComposed{deep, 1};
  EXPECT_TRUE(Validate(deep, "").ok());
  EXPECT_THAT(Validate(MechanismEvent(SelfComposed{deep, 1}), "").message(),
              HasSubstr("want at most 16"));
  // Ten parts that are the same ten parts and so on: 10^6 events in a few objects.
  MechanismEvent wide = PureDp{1};
  for (int i = 0; i < 6; ++i) {
    wide = Composed{std::vector<CountedEvent>(10, CountedEvent{wide, 1})};
  }
  EXPECT_THAT(Validate(wide, "").message(), HasSubstr("more than 10000 events"));
  EXPECT_FALSE(Validate(MechanismEvent(NonPrivate{std::string(65536, 'x')}), "").ok());
  EXPECT_TRUE(Validate(MechanismEvent(NonPrivate{std::string(1024, 'x')}), "").ok());
}

TEST(ContainsUnverifiedClaim, LooksInsideEveryEvent) {
  const MechanismEvent claim = UnverifiedClaim{1, 0, "somebody"};
  EXPECT_TRUE(ContainsUnverifiedClaim(claim));
  EXPECT_TRUE(ContainsUnverifiedClaim(SelfComposed{claim, 2}));
  EXPECT_TRUE(ContainsUnverifiedClaim(Composed{{{MechanismEvent(PureDp{1}), 1}, {claim, 1}}}));
  EXPECT_FALSE(ContainsUnverifiedClaim(Composed{{{MechanismEvent(PureDp{1}), 1}}}));
}

}  // namespace
}  // namespace epsledger::accounting
