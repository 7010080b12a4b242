// What other libraries have answered wrongly, and what is right. Each test names the peer's value.
// Versions: dp_accounting 0.6.0, prv_accountant 0.2.0, Opacus 1.6.0, autodp 0.2.3.1.

#include <cmath>
#include <limits>
#include <utility>

#include "accounting/answer.h"
#include "accounting/numeric/constants.h"
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

constexpr double kNoAnswer = std::numeric_limits<double>::quiet_NaN();

// Holds `truth`, known to `printed`, from both sides, and what the peer says is outside of what is
// left possible: below it is unsafe, above it loose. kNoAnswer: the peer raises or refuses.
void ExpectBracket(const Question& question, double truth, double printed, double peer) {
  SCOPED_TRACE(testing::Message() << "truth " << truth << " peer " << peer);
  const auto answer = Answer(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->kind, GuaranteeKind::kUpperBound);
  ASSERT_TRUE(answer->upper.has_value() && answer->lower.has_value());
  EXPECT_GE(*answer->upper, truth - printed);
  EXPECT_LE(*answer->lower, truth + printed);
  EXPECT_LE(*answer->upper, truth * 1.001 + printed);
  EXPECT_GE(*answer->lower, truth * 0.999 - printed);
  if (!std::isnan(peer)) {
    EXPECT_TRUE(peer < *answer->lower || peer > *answer->upper);
  }
}

TEST(Museum, ExponentialMechanismCountsEveryUse) {
  // dp_accounting RDP ignores the count: 0.5058 at 50 uses, 0.506 at 100. One by one its bound is
  // 10.0840 and 15.317. The optimal composition of as many bounded ranges, chosen in advance, is
  // 9.34110 and 14.30538 ([DDR20] Thm 2, mpmath): no proof goes below.
  struct Row {
    int64_t count;
    double optimal, one_by_one, peer;
  };
  for (const Row& row : {Row{50, 9.34109913343411, 10.08404778180373, 0.5057522259945987},
                         Row{100, 14.30538195130295, 15.317, 0.506}}) {
    for (const Accountant accountant : {Accountant::kRenyi, Accountant::kPld, Accountant::kBest}) {
      const double epsilon = Epsilon(accountant, ExponentialMechanism{0.5}, row.count, 1e-6);
      EXPECT_GE(epsilon, row.optimal) << Name(accountant);
      EXPECT_GT(epsilon, row.peer) << Name(accountant);
      if (accountant != Accountant::kPld) {
        EXPECT_LE(epsilon, row.one_by_one) << Name(accountant);
      }
    }
  }
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
  // ignores the relation; exactly 4.37718 (mpmath).
  for (const Accountant accountant : {Accountant::kPld, Accountant::kGaussian}) {
    Question question = AskEpsilon(accountant, Gaussian{2}, 1, 1e-5);
    question.relation = NeighboringRelation::kReplaceOne;
    ExpectBracket(question, 4.3771780956812246, 1e-12, 2.166);
  }
  EXPECT_GE(Epsilon(Accountant::kRenyi, Gaussian{2}, 1, 1e-5, NeighboringRelation::kReplaceOne),
            4.3771780956812246);
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

TEST(Museum, LargeEpsilonOfAGaussianIsFound) {
  // Opacus eps_from_mu(20, 1e-100) raises: its bracket ends at 500. Exact: 624.788...
  const double epsilon = Epsilon(Accountant::kGaussian, GaussianDp{20}, 1, 1e-100);
  EXPECT_NEAR(epsilon, 624.788, 1e-2);
}

TEST(Museum, CompositionDoesNotOverflow) {
  // dp_accounting's advanced_composition, which is the optimal one, raises OverflowError from
  // k epsilon = 710 on (mpmath: 623.56...).
  EXPECT_NEAR(Epsilon(Accountant::kOptimal, ApproximateDp{1, 1e-8}, 1000, 1.0000950040166217e-5),
              623.56435014190180, 1e-6);
  EXPECT_TRUE(
      std::isfinite(Epsilon(Accountant::kAdvanced, ApproximateDp{1, 1e-8}, 1000, 1.0001e-3)));
}

TEST(Museum, RandomizedResponseIsExactUnderReplaceOne) {
  // dp_accounting PLD ignores the count: 1.0987 at 20 uses and at 100. Sums of binomials, exact.
  for (const auto& [count, truth] : {std::pair<int64_t, double>{20, 21.9719303867779},
                                     std::pair<int64_t, double>{100, 94.2898678}}) {
    Question question = AskEpsilon(Accountant::kPld, RandomizedResponse{0.5, 2}, count, 1e-6);
    question.relation = NeighboringRelation::kReplaceOne;
    ExpectBracket(question, truth, 1e-7, 1.0986986666657776);
  }
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
  // dp_accounting get_sigma_gaussian(0, delta): 7.96e14 at 1e-15 and 1e-30; autodp does not return.
  // Here delta = 2 Phi(1 / (2 z)) - 1, so that z is 1 / (delta sqrt(2 pi)) to all digits.
  const auto calibrated = [](double epsilon, double delta) {
    const auto answer =
        Answer(Ask(Accountant::kGaussian, {{MechanismEvent(Gaussian{1}), 1}},
                   Calibrate{epsilon, delta, Calibrate::Variable::kNoiseMultiplier}));
    return *answer->value;
  };
  for (const double delta : {1e-15, 1e-30, 1e-100}) {
    const double truth = 1 / (delta * std::sqrt(2 * M_PI));
    EXPECT_NEAR(calibrated(0, delta) / truth, 1, 2e-9) << delta;
    EXPECT_GE(calibrated(0, delta), truth * (1 - 1e-15)) << delta;
  }
  // autodp ana_gaussian_mech: 7010.92 (mpmath: 10411.1), and 13.9282 at every delta below 1e-12.
  EXPECT_NEAR(calibrated(0.001, 1e-30) / 10411.137950399482, 1, 2e-9);
  EXPECT_NEAR(calibrated(0.5, 1e-30) / 21.999541112505846, 1, 2e-9);
}

// A peer's epsilon of `count` sampled Gaussians at delta.
struct SampledRow {
  double sampling_probability, noise_multiplier;
  int64_t count;
  double delta;
  double truth, printed;  // contour integrals in 80-bit arithmetic, and to what they are known
  double peer;
};

void ExpectBracket(const SampledRow& row, double relative_width = 1e-3) {
  Question question = AskEpsilon(
      Accountant::kPld, SampledGaussianEvent(row.sampling_probability, row.noise_multiplier),
      row.count, row.delta);
  question.relative_width = relative_width;
  ExpectBracket(question, row.truth, row.printed, row.peer);
}

TEST(Museum, SampledGaussiansAreBracketedWhereDpAccountingIsUnsafeOrGivesUp) {
  // PLD: a Fourier transform without a tilt has no digits below 1e-12, and with tails cut at 1e-15
  // there is no epsilon below.
  for (const SampledRow& row : {
           SampledRow{0.01, 1, 10000, 1e-12, 10.34669, 5e-6, 10.2865},
           SampledRow{0.01, 1, 10000, 1e-14, 11.30356, 5e-6, 10.752},
           SampledRow{0.01, 1, 10000, 1e-15, 11.760, 5e-4, kInfinity},
           SampledRow{0.01, 4, 10000, 1e-12, 1.71114373998694, 1e-12, 1.7086363327784397},
           SampledRow{0.01, 4, 10000, 1e-13, 1.79619666185294, 1e-12, 1.7865604937636046},
           SampledRow{0.01, 1, 1000, 1e-14, 4.54370198859307, 1e-12, 6.817393106526019},
           SampledRow{0.01, 1, 1000, 1e-16, 5.16180064857169, 1e-12, kInfinity},
           SampledRow{0.01, 1, 1000, 1e-20, 6.36170020407935, 1e-12, kInfinity},
           SampledRow{0.01, 1, 100000, 1e-12, 37.5410941608666, 1e-12, 36.679},
           SampledRow{2e-4, 0.45, 1000000, 1e-12, 24.3183324709351, 1e-12, 22.04},
           // A grid of 1e-4 for losses of 1e-6 a step: 6.7027, and prv_accountant is above 3.2040.
           SampledRow{1e-6, 0.6, 1000000, 1e-12, 0.28927, 5e-6, 3.2040},
           SampledRow{1024.0 / 1281167, 0.6, 112602, 1e-12, 10.1744903072831, 1e-12, 18.75955544},
           SampledRow{0.001, 4, 1000000, 1e-12, 1.69824689448687, 1e-12, 2.891},
       }) {
    ExpectBracket(row);
  }
}

TEST(Museum, SampledGaussiansAreBracketedAtPracticalDeltas) {
  // dp_accounting PLD is unsafe here too, by 1.9e-4 and 8.2e-4: by less than the default width.
  ExpectBracket(SampledRow{0.01, 1, 100000, 1e-8, 31.3738837095561, 1e-12, 31.37369446575495},
                1e-6);
  ExpectBracket(SampledRow{2e-4, 0.45, 1000000, 1e-8, 18.2497733793895, 1e-12, 18.24895}, 1e-6);
}

TEST(Museum, SampledGaussiansAreBracketedWherePrvAccountantIsUnsafeOrRaises) {
  ExpectBracket(SampledRow{0.001, 0.8, 100000, 1e-12, 4.6466, 5e-5, 4.474});
  ExpectBracket(SampledRow{0.01, 4, 10000, 1e-12, 1.71114373998694, 1e-12, 1.70373});
  ExpectBracket(SampledRow{0.001, 0.8, 100000, 1e-14, 5.33515, 2e-5, kNoAnswer});
  // (-0.50001, -9.796e-6, 0.49999) with 0.5 for its error. delta(0) is 2.5e-4 here, so epsilon is
  // not 0; a plain Fourier transform on a grid of 2e-8, which is enough at 1e-5, has 0.001208005.
  ExpectBracket(SampledRow{0.001, 5, 10, 1e-5, 0.001208005, 2e-8, -9.796e-6});
}

TEST(Museum, SampledGaussiansAreBracketedWhereOpacusIsUnsafeOrRefuses) {
  // PRV, said to be an upper bound, and GDP, which is the central limit theorem.
  ExpectBracket(SampledRow{0.01, 1, 1000, 1e-13, 4.22981135914895, 1e-12, 4.1430773625577855});
  ExpectBracket(SampledRow{1024.0 / 1281167, 0.6, 112602, 1e-12, 10.1744903072831, 1e-12, 9.584});
  ExpectBracket(SampledRow{0.001, 4, 1000000, 1e-12, 1.69824689448687, 1e-12, 1.550});
  ExpectBracket(SampledRow{0.01, 0.5, 1000, 1e-12, 27.1, 0.05, 18.5});
  // PRV at 1e-15: "Floating point errors will dominate". The truth is a contour integral in
  // doubles.
  ExpectBracket(SampledRow{0.01, 1, 1000, 1e-15, 4.85453775062, 1e-9, kNoAnswer});
}

TEST(Museum, SampledGaussianIsTightWhereAutodpIsLoose) {
  // Its analytical Fourier accountant.
  ExpectBracket(SampledRow{0.02, 1, 500, 1e-5, 2.773, 5e-4, 3.912});
}

TEST(Museum, DeltaIsNeitherNegativeNorAFloor) {
  struct Row {
    double noise_multiplier, epsilon, truth, printed, peer;
  };
  // dp_accounting PLD: a negative delta, and for every delta below it the mass that was cut off.
  // The first truth is known to three digits, the others are contour integrals in doubles.
  for (const Row& row :
       {Row{1, 11, 4.46e-14, 0.5e-16, -3.7e-13}, Row{4, 2, 2.646093596e-16, 1e-25, 1.461e-15},
        Row{4, 2.5, 1.040180756e-23, 1e-32, 1.461e-15},
        Row{4, 3, 1.204758158e-32, 1e-41, 1.461e-15}}) {
    ExpectBracket(Ask(Accountant::kPld, {{SampledGaussianEvent(0.01, row.noise_multiplier), 10000}},
                      DeltaAtEpsilon{row.epsilon}),
                  row.truth, row.printed, row.peer);
  }
}

TEST(Museum, LittleNoiseUnderSamplingIsAnswered) {
  // dp_accounting PLD: nothing in 100 s. One step is 0.5 delta(log(1 + (e^epsilon - 1) / 0.5)) of
  // the Gaussian (mpmath).
  ExpectBracket(SampledRow{0.5, 0.05, 1, 1e-5, 280.54743999124647, 1e-12, kNoAnswer});
  // 160.1812 after 43 s on a grid of more than 1 GB. Contour integral: 160.1797.
  ExpectBracket(SampledRow{0.01, 0.1, 10, 1e-5, 160.1797, 1e-6, kNoAnswer});
}

TEST(Museum, ApproximateDpComposesWithLowerBoundsToo) {
  // dp_accounting's (epsilon, delta) events are pessimistic only: "Estimation types are different".
  const auto answer = Answer(
      Ask(Accountant::kPld,
          {{SampledGaussianEvent(0.01, 1), 1000}, {MechanismEvent(ApproximateDp{0.1, 1e-9}), 5}},
          EpsilonAtDelta::FromDelta(1e-6)));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_LE(*answer->upper - *answer->lower, 1e-3 * *answer->upper);
  EXPECT_GT(*answer->lower, Epsilon(Accountant::kPld, SampledGaussianEvent(0.01, 1), 1000, 1e-6));
}

TEST(Museum, RenyiDivergenceIsNotASumOfAbsoluteValues) {
  // dp_accounting at 0.05, 10 and order 1.1: 3.4 times the exact one (mpmath), and inf in 46 of
  // 1080 such rows.
  const auto divergence = Answer(
      Ask(Accountant::kRenyi, {{SampledGaussianEvent(0.05, 10), 1}}, RenyiDivergenceAtOrder{1.1}));
  EXPECT_NEAR(*divergence->upper, 1.38128555451976e-5, 1e-14);
}

TEST(Museum, CentralLimitIsAnsweredOutsideOfAFixedInterval) {
  // Opacus GDP looks for epsilon in [0, 500] and raises where it is not inside: at 0.5, 0.3,
  // T = 100; where it is 0; at mu = 50. At mu = 1 and delta 1e-300 it is off by 2.6e-3 (mpmath).
  const double mu = 0.5 * std::sqrt(100 * std::expm1(1 / 0.09));
  const double limit = Epsilon(Accountant::kClt, SampledGaussianEvent(0.5, 0.3), 100, 1e-5);
  EXPECT_GT(limit, 500);
  EXPECT_NEAR(limit, Epsilon(Accountant::kGaussian, GaussianDp{mu}, 1, 1e-5), 1e-9 * limit);
  EXPECT_EQ(Epsilon(Accountant::kGaussian, GaussianDp{1}, 1, 0.5), 0);
  EXPECT_NEAR(Epsilon(Accountant::kGaussian, GaussianDp{50}, 1, 1e-8), 1529.6524079822357, 1e-8);
  EXPECT_NEAR(Epsilon(Accountant::kGaussian, GaussianDp{1}, 1, 1e-300), 37.448847912139105, 1e-10);
}

TEST(Museum, PureEventsAreExactWherePeersWrapAround) {
  // prv_accountant on 100 uses of a log(3)-DP mechanism: [65.885, 65.905] at 1e-3, [76.890, 76.910]
  // at 1e-6; 300 uses [124.859, 124.880] at 1e-3; 300 of 1.7346 [65.559, 65.580] at 1e-6.
  for (const Accountant accountant : {Accountant::kPld, Accountant::kOptimal}) {
    EXPECT_NEAR(Epsilon(accountant, PureDp{std::log(3.0)}, 100, 1e-3), 81.2660456, 1e-3 * 81.27);
    EXPECT_NEAR(Epsilon(accountant, PureDp{std::log(3.0)}, 100, 1e-6), 94.2898678, 1e-3 * 94.29);
    EXPECT_NEAR(Epsilon(accountant, PureDp{std::log(3.0)}, 300, 1e-3), 212.961217, 1e-3 * 213);
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

}  // namespace
}  // namespace epsledger::accounting
