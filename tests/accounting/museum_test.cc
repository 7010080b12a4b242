// What other libraries have answered wrongly, and what is right. Each test names the peer's value.
// Versions: dp_accounting 0.6.0, prv_accountant 0.2.0, Opacus 1.6.0, autodp 0.2.3.1.

#include <cmath>
#include <limits>
#include <utility>

#include "accounting/accountant.h"
#include "accounting/gaussian/calibration.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

double Epsilon(Accountant accountant, const MechanismEvent& event, int64_t count, double delta,
               NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne) {
  Question question = AskEpsilon(accountant, event, count, delta);
  question.relation = relation;
  return *Answer(question)->upper;
}

TEST(Museum, ExponentialMechanismCountsEveryUse) {
  // dp_accounting RDP ignores the count: 0.506 at 100 uses. One by one its bound is 15.317.
  const double epsilon = Epsilon(Accountant::kRenyi, ExponentialMechanism{0.5}, 100, 1e-6);
  EXPECT_LE(epsilon, 15.317);
  EXPECT_GT(epsilon, 5);
}

TEST(Museum, RandomizedResponseCountsEveryUse) {
  // dp_accounting PLD under replace-one ignores the count: 1.0987. The truth is 94.2899.
  const double epsilon = Epsilon(Accountant::kRenyi, RandomizedResponse{0.5, 2}, 100, 1e-6,
                                 NeighboringRelation::kReplaceOne);
  EXPECT_GE(epsilon, 94.2898678);
  EXPECT_LE(epsilon, 100 * std::log(3.0) + 1e-9);
}

TEST(Museum, PureEventsAreNotUnderReported) {
  // prv_accountant: "upper bound" 124.9 for 300 compositions of a log(3)-DP mechanism at delta
  // 1e-3; the truth is 212.961217, rounded. And 65.580 for 300 of 1.7346 at 1e-6; the truth is
  // 454.464805.
  for (const Accountant accountant : {Accountant::kRenyi, Accountant::kZcdp, Accountant::kBasic,
                                      Accountant::kOptimal, Accountant::kBest}) {
    EXPECT_GE(Epsilon(accountant, PureDp{std::log(3.0)}, 300, 1e-3), 212.9612165);
    EXPECT_GE(Epsilon(accountant, PureDp{1.7346}, 300, 1e-6), 454.4);
  }
}

TEST(Museum, GaussianRespectsReplaceOne) {
  // dp_accounting: noise multiplier 2 under replace-one, delta 1e-5: its RDP says 2.166 because it
  // ignores the relation; the exact epsilon is 4.377.
  const double exact =
      Epsilon(Accountant::kGaussian, Gaussian{2}, 1, 1e-5, NeighboringRelation::kReplaceOne);
  EXPECT_NEAR(exact, 4.377, 1e-3);
  EXPECT_GE(Epsilon(Accountant::kRenyi, Gaussian{2}, 1, 1e-5, NeighboringRelation::kReplaceOne),
            exact);
}

TEST(Museum, SmallNoiseIsAnsweredAtOnce) {
  // dp_accounting PLD: noise multiplier 0.03 takes 36 s and 2.8 GB and answers inf at 1e-6.
  EXPECT_NEAR(Epsilon(Accountant::kGaussian, Gaussian{0.03}, 1, 1e-6), 713.068, 1e-3);
}

TEST(Museum, RenyiIsNotInflatedAtFractionalOrders) {
  // dp_accounting RDP at 0.1, 0.4, T = 1000, delta 1e-5: 613.35 for 249.608.
  const double epsilon = Epsilon(Accountant::kRenyi, SampledGaussianEvent(0.1, 0.4), 1000, 1e-5);
  EXPECT_LE(epsilon, 249.608);
  EXPECT_GE(epsilon, 240);
}

TEST(Museum, EpsilonIsNeverNegative) {
  // Opacus RDP: 1e-5, 100, one step, delta 0.5: -0.693; and 0.01, 5: -0.693.
  EXPECT_EQ(Epsilon(Accountant::kRenyi, SampledGaussianEvent(1e-5, 100), 1, 0.5), 0);
  EXPECT_EQ(Epsilon(Accountant::kRenyi, SampledGaussianEvent(0.01, 5), 1, 0.5), 0);
  EXPECT_EQ(Epsilon(Accountant::kRenyi, SampledGaussianEvent(1e-6, 50), 1, 1e-5), 0);
}

TEST(Museum, UpperBoundsStayAboveTheTruthAtSmallDelta) {
  // prv_accountant: 4.474 at 0.001, 0.8, T = 1e5, delta 1e-12 for a true 4.6466.
  EXPECT_GE(Epsilon(Accountant::kBest, SampledGaussianEvent(0.001, 0.8), 100000, 1e-12), 4.6466);
  // dp_accounting PLD: 36.679 at 0.01, 1, T = 1e5, delta 1e-12 for a true 37.541.
  EXPECT_GE(Epsilon(Accountant::kBest, SampledGaussianEvent(0.01, 1), 100000, 1e-12), 37.5410941);
  // ... and 22.04 at 2e-4, 0.45, T = 1e6, delta 1e-12 for a true 24.318.
  EXPECT_GE(Epsilon(Accountant::kBest, SampledGaussianEvent(2e-4, 0.45), 1000000, 1e-12),
            24.3183324);
  // Opacus GDP: 18.5 at 0.01, 0.5, T = 1000, delta 1e-12 for about 27.07.
  EXPECT_GE(Epsilon(Accountant::kBest, SampledGaussianEvent(0.01, 0.5), 1000, 1e-12), 27.07);
  // Opacus PRV: 9.584 at 1024/1281167, 0.6, T = 112602, delta 1e-12 for a true 10.174.
  EXPECT_GE(Epsilon(Accountant::kBest, SampledGaussianEvent(1024.0 / 1281167, 0.6), 112602, 1e-12),
            10.1744903);
  // autodp's AFA answers 3.912 at 0.02, 1, T = 500, delta 1e-5 for a true 2.773: loose, not unsafe.
  EXPECT_LE(Epsilon(Accountant::kBest, SampledGaussianEvent(0.02, 1), 500, 1e-5), 3.3);
}

TEST(Museum, LargeEpsilonOfAGaussianIsFound) {
  // Opacus eps_from_mu(20, 1e-100) raises: its bracket ends at 500. Exact: 624.788...
  const double epsilon = Epsilon(Accountant::kGaussian, GaussianDp{20}, 1, 1e-100);
  EXPECT_NEAR(epsilon, 624.788, 1e-2);
}

TEST(Museum, AdvancedCompositionDoesNotOverflow) {
  // dp_accounting advanced_composition((1, 1e-8), 1000, 1.0001e-5) raises OverflowError.
  Question question = AskEpsilon(Accountant::kAdvanced, ApproximateDp{1, 1e-8}, 1000, 1.0001e-3);
  EXPECT_TRUE(std::isfinite(*Answer(question)->upper));
}

TEST(Museum, SampledGaussianIsTightAtEveryDelta) {
  // dp_accounting PLD: "pessimistic" 10.2865 at 1e-12 and 10.752 at 1e-14. Contour integrals in 80
  // bits: 6.18771, 10.34669, 11.30356.
  for (const auto& [delta, truth] :
       {std::pair{1e-5, 6.18771}, {1e-12, 10.34669}, {1e-14, 11.30356}}) {
    const auto answer =
        Answer(AskEpsilon(Accountant::kBest, SampledGaussianEvent(0.01, 1), 10000, delta));
    EXPECT_GE(*answer->upper, truth - 1e-5);
    EXPECT_LE(*answer->lower, truth + 1e-5);
    EXPECT_LE(*answer->upper, truth * 1.001 + 1e-5);
  }
}

TEST(Museum, RandomizedResponseIsExactUnderReplaceOne) {
  // dp_accounting PLD ignores the count: 1.0987 for 94.2899.
  EXPECT_NEAR(Epsilon(Accountant::kPld, RandomizedResponse{0.5, 2}, 100, 1e-6,
                      NeighboringRelation::kReplaceOne),
              94.2898678, 1e-3 * 94.2899);
}

TEST(Museum, OptimalCompositionSurvivesManyUses) {
  // Google C++ overflows near k = 1000, and says 1 - (1 - m)^k = 0 for m = 1e-17, k = 1e6.
  EXPECT_TRUE(std::isfinite(Epsilon(Accountant::kOptimal, PureDp{0.1}, 1000000, 1e-6)));
  const auto delta =
      Answer(Ask(Accountant::kOptimal, {{MechanismEvent(ApproximateDp{0, 1e-17}), 1000000}},
                 DeltaAtEpsilon{0}));
  EXPECT_NEAR(*delta->upper, 1e-11, 1e-16);
}

TEST(Museum, CalibrationSurvivesZeroEpsilonAndTinyDelta) {
  // dp_accounting get_sigma_gaussian(0, 1e-30): 8e14 for 3.99e29; autodp does not return.
  EXPECT_GT(AnalyticNoiseMultiplier(0, 1e-30), 3.989e29);
}

TEST(Museum, SampledGaussiansAreBracketedWherePeersAreUnsafeOrGiveUp) {
  struct Row {
    double sampling_probability, noise_multiplier;
    int64_t count;
    double delta, truth;  // contour integrals in 80-bit arithmetic
    const char* peer;
  };
  for (const Row& row : {
           Row{0.01, 4, 10000, 1e-12, 1.71114373998694, "dp_accounting PLD 1.70864, prv 1.70373"},
           Row{0.01, 4, 10000, 1e-13, 1.79619666185294, "dp_accounting PLD 1.78656"},
           Row{0.01, 1, 1000, 1e-13, 4.22981135914895, "Opacus PRV 4.14308"},
           Row{0.01, 1, 1000, 1e-14, 4.54370198859307, "dp_accounting PLD 6.81739"},
           Row{0.01, 1, 1000, 1e-16, 5.16180064857169, "dp_accounting PLD inf, Opacus PRV raises"},
           Row{0.01, 1, 1000, 1e-20, 6.36170020407935, "dp_accounting PLD inf"},
           Row{0.01, 1, 100000, 1e-8, 31.3738837095561, "dp_accounting PLD 31.37369"},
           Row{2e-4, 0.45, 1000000, 1e-8, 18.2497733793895, "dp_accounting PLD 18.24895"},
           Row{0.001, 4, 1000000, 1e-12, 1.69824689448687, "Opacus PRV 1.550, dp_accounting 2.891"},
           Row{1e-6, 0.6, 1000000, 1e-12, 0.28927, "dp_accounting PLD 6.7027, prv >= 3.2040"},
       }) {
    const auto answer = Answer(AskEpsilon(
        Accountant::kPld, SampledGaussianEvent(row.sampling_probability, row.noise_multiplier),
        row.count, row.delta));
    ASSERT_TRUE(answer.ok()) << answer.status();
    const double printed = 5e-6;  // the truth has at least five digits
    EXPECT_GE(*answer->upper, row.truth - printed) << row.peer;
    EXPECT_LE(*answer->lower, row.truth + printed) << row.peer;
    EXPECT_LE(*answer->upper, row.truth * 1.001 + 1e-5) << row.peer;
  }
}

TEST(Museum, PureEventsAreExactWherePeersWrapAround) {
  // prv_accountant on 100 uses of a log(3)-DP mechanism: [65.885, 65.905] at 1e-3, [76.890, 76.910]
  // at 1e-6.
  for (const Accountant accountant : {Accountant::kPld, Accountant::kOptimal}) {
    EXPECT_NEAR(Epsilon(accountant, PureDp{std::log(3.0)}, 100, 1e-3), 81.2660456, 1e-3 * 81.27);
    EXPECT_NEAR(Epsilon(accountant, PureDp{std::log(3.0)}, 100, 1e-6), 94.2898678, 1e-3 * 94.29);
    EXPECT_NEAR(Epsilon(accountant, PureDp{1.7346}, 300, 1e-6), 454.464805, 1e-3 * 454.5);
  }
}

TEST(Museum, ManyGaussiansAreExact) {
  // Google C++: 9.653 for noise multiplier 300, 100,000 uses, delta 1e-5: rounded up in every step.
  EXPECT_NEAR(Epsilon(Accountant::kBest, Gaussian{300}, 100000, 1e-5), 4.65298, 1e-5);
}

TEST(Museum, TradeOffOfRandomizedResponseIsNotItsSlope) {
  // riskcal: 0.25 0.25 0 0 at type I errors 0, 0.1, 0.5, 1. By hand: f(a) = 1 - 3 a, then (1 -
  // a)/3.
  for (const auto& [alpha, truth] : {std::pair{0.0, 1.0}, {0.1, 0.7}, {0.5, 1.0 / 6}, {1.0, 0.0}}) {
    Question question = Ask(Accountant::kPld, {{MechanismEvent(RandomizedResponse{0.5, 2}), 1}},
                            TypeTwoErrorAt{alpha});
    question.relation = NeighboringRelation::kReplaceOne;
    const auto answer = Answer(question);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_NEAR(*answer->lower, truth, 1e-6);
    EXPECT_LE(*answer->lower, truth + 1e-15);
  }
}

TEST(Museum, NegativeDivergencesAreRefused) {
  // dp_accounting RDP takes a negative divergence and answers epsilon 0.
  const auto answer =
      Answer(AskEpsilon(Accountant::kRenyi, RenyiCurve{{2, 4}, {-1, 0.5}}, 1, 1e-5));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Museum, CentralLimitIsWhatWasPublished) {
  // [BDLS20], MNIST with batches of 256 of 60,000 at delta 1e-5: the printed digits. An
  // approximation, below the truth.
  struct Row {
    double noise_multiplier;
    double epochs, epsilon;
  };
  for (const Row& row : {Row{1.3, 15, 0.83}, Row{1.1, 60, 2.32}, Row{0.7, 45, 5.07},
                         Row{0.6, 62, 9.98}, Row{0.55, 68, 14.98}, Row{0.5, 100, 31.12}}) {
    const auto answer = Answer(
        AskEpsilon(Accountant::kClt, SampledGaussianEvent(256.0 / 60000, row.noise_multiplier),
                   static_cast<int64_t>(std::lround(row.epochs * 234.375)), 1e-5));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->kind, GuaranteeKind::kApproximation);
    EXPECT_NEAR(*answer->upper, row.epsilon, 0.0055);
  }
}

}  // namespace
}  // namespace epsledger::accounting
