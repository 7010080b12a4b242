#include <cmath>

#include "accounting/answer.h"
#include "accounting/gaussian/calibration.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

using Variable = Calibrate::Variable;

double EpsilonWith(Accountant accountant, const MechanismEvent& event, int64_t count,
                   double delta) {
  return *Answer(AskEpsilon(accountant, event, count, delta))->upper;
}

TEST(Calibrate, EndsJustOnTheSafeSide) {
  for (const Accountant accountant : {Accountant::kRenyi, Accountant::kZcdp}) {
    const auto noise = Answer(Ask(accountant, {{SampledGaussianEvent(0.01, 1), 1000}},
                                  Calibrate{2, 1e-6, Variable::kNoiseMultiplier}));
    ASSERT_TRUE(noise.ok()) << noise.status();
    const double z = *noise->value;
    EXPECT_LE(*noise->upper, 2);
    EXPECT_EQ(EpsilonWith(accountant, SampledGaussianEvent(0.01, z), 1000, 1e-6), *noise->upper);
    EXPECT_GT(EpsilonWith(accountant, SampledGaussianEvent(0.01, z * (1 - 1e-7)), 1000, 1e-6), 2);
  }
  const auto count = Answer(Ask(Accountant::kRenyi, {{SampledGaussianEvent(0.01, 1), 1}},
                                Calibrate{2, 1e-6, Variable::kCount}));
  const auto steps = static_cast<int64_t>(*count->value);
  EXPECT_LE(EpsilonWith(Accountant::kRenyi, SampledGaussianEvent(0.01, 1), steps, 1e-6), 2);
  EXPECT_GT(EpsilonWith(Accountant::kRenyi, SampledGaussianEvent(0.01, 1), steps + 1, 1e-6), 2);
  const auto probability = Answer(Ask(Accountant::kRenyi, {{SampledGaussianEvent(0.5, 1), 1000}},
                                      Calibrate{2, 1e-6, Variable::kSamplingProbability}));
  const double q = *probability->value;
  EXPECT_LE(EpsilonWith(Accountant::kRenyi, SampledGaussianEvent(q, 1), 1000, 1e-6), 2);
  EXPECT_GT(EpsilonWith(Accountant::kRenyi, SampledGaussianEvent(q * (1 + 1e-7), 1), 1000, 1e-6),
            2);
}

TEST(Calibrate, AgreesWithTheAnalyticGaussianMechanism) {
  for (const double epsilon : {0.0, 0.1, 3.0}) {
    for (const double delta : {1e-5, 1e-30, 1e-100}) {
      const auto answer = Answer(Ask(Accountant::kGaussian, {{MechanismEvent(Gaussian{1}), 1}},
                                     Calibrate{epsilon, delta, Variable::kNoiseMultiplier}));
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_NEAR(*answer->value * LargestGaussianMu(epsilon, std::log(delta)), 1, 1e-8);
    }
  }
}

TEST(Calibrate, CountsExactlyUnderBasicAndAdvanced) {
  const auto basic = Answer(Ask(Accountant::kBasic, {{MechanismEvent(PureDp{0.25}), 1}},
                                Calibrate{2, 0, Variable::kCount}));
  EXPECT_GE(*basic->value, 7);  // 8 * 0.25 rounded up is a hair above 2
  EXPECT_LE(*basic->value, 8);
  const auto advanced = Answer(Ask(Accountant::kAdvanced, {{MechanismEvent(PureDp{0.01}), 1}},
                                   Calibrate{1, 1e-6, Variable::kCount}));
  EXPECT_LE(*advanced->upper, 1);
  EXPECT_GT(*advanced->value, 100);
}

TEST(Calibrate, FindsTheNoiseOfTheDiscreteMechanisms) {
  // noise_parameter * sensitivity is the epsilon of a discreteLaplace ([GRS12]).
  const auto laplace = Answer(Ask(Accountant::kBasic, {{MechanismEvent(DiscreteLaplace{5, 3}), 4}},
                                  Calibrate{2, 0, Variable::kNoiseMultiplier}));
  ASSERT_TRUE(laplace.ok()) << laplace.status();
  EXPECT_NEAR(*laplace->value, 2.0 / 12, 1e-9);
  EXPECT_LE(*laplace->upper, 2);
  // Under ZCDP a discreteGaussian spends what the Gaussian of noise multiplier sigma / sensitivity
  // does ([CKS20] Prop 5).
  const auto discrete =
      Answer(Ask(Accountant::kZcdp, {{MechanismEvent(DiscreteGaussian{1, 3}), 10}},
                 Calibrate{1, 1e-6, Variable::kNoiseMultiplier}));
  const auto gaussian = Answer(Ask(Accountant::kZcdp, {{MechanismEvent(Gaussian{1}), 10}},
                                   Calibrate{1, 1e-6, Variable::kNoiseMultiplier}));
  ASSERT_TRUE(discrete.ok()) << discrete.status();
  EXPECT_NEAR(*discrete->value, 3 * *gaussian->value, 1e-8 * *discrete->value);
  const auto sampled =
      Answer(Ask(Accountant::kRenyi,
                 {{MechanismEvent(PoissonSampled{0.1, MechanismEvent(DiscreteLaplace{1, 1})}), 9}},
                 Calibrate{1, 1e-6, Variable::kNoiseMultiplier}));
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  const auto spends = [](double a) {
    return EpsilonWith(Accountant::kRenyi,
                       PoissonSampled{0.1, MechanismEvent(DiscreteLaplace{a, 1})}, 9, 1e-6);
  };
  EXPECT_EQ(spends(*sampled->value), *sampled->upper);
  EXPECT_LE(*sampled->upper, 1);
  EXPECT_GT(spends(*sampled->value * (1 + 1e-7)), 1);
}

TEST(Calibrate, FindsTheNoiseOfADiscreteGaussianUnderPld) {
  const auto answer = Answer(Ask(Accountant::kPld, {{MechanismEvent(DiscreteGaussian{1, 2}), 5}},
                                 Calibrate{1, 1e-6, Variable::kNoiseMultiplier}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_LE(*answer->upper, 1);
  const auto less = Answer(
      AskEpsilon(Accountant::kPld, DiscreteGaussian{*answer->value * (1 - 5e-3), 2}, 5, 1e-6));
  EXPECT_GT(*less->lower, 1);
}

TEST(Calibrate, SaysWhatCannotBe) {
  const auto status = [](const Question& q) { return Answer(q).status(); };
  EXPECT_TRUE(absl::IsFailedPrecondition(
      status(Ask(Accountant::kGaussian, {{MechanismEvent(Gaussian{1}), 1}},
                 Calibrate{1, 0, Variable::kNoiseMultiplier}))));
  EXPECT_TRUE(absl::IsFailedPrecondition(status(Ask(
      Accountant::kBasic, {{MechanismEvent(PureDp{3}), 1}}, Calibrate{1, 0, Variable::kCount}))));
  EXPECT_TRUE(
      absl::IsInvalidArgument(status(Ask(Accountant::kBasic, {{MechanismEvent(PureDp{3}), 1}},
                                         Calibrate{1, 0, Variable::kNoiseMultiplier}))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      status(Ask(Accountant::kBasic, {}, Calibrate{1, 0, Variable::kCount}))));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(status(Ask(Accountant::kPld, {{MechanismEvent(Gaussian{3}), 1}},
                                            Calibrate{1, 1e-5, Variable::kCount}))));
  EXPECT_TRUE(absl::IsUnimplemented(
      status(Ask(Accountant::kPld, {{SampledGaussianEvent(0.01, 1), 100}}, Calibrate{.mu = 1}))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      status(Ask(Accountant::kGaussian, {{MechanismEvent(Gaussian{1}), 1}},
                 Calibrate{.mu = 1, .operating_point = Calibrate::OperatingPoint{0.1, 0.2}}))));
}

TEST(Calibrate, EndsNearTheTrueEdgeUnderPld) {
  for (const Accountant accountant : {Accountant::kPld, Accountant::kBest}) {
    for (const double epsilon : {0.5, 2.0, 8.0}) {
      const auto noise = Answer(Ask(accountant, {{SampledGaussianEvent(0.01, 1), 10000}},
                                    Calibrate{epsilon, 1e-5, Variable::kNoiseMultiplier}));
      ASSERT_TRUE(noise.ok()) << noise.status();
      EXPECT_LE(*noise->upper, epsilon);
      // A noise multiplier 2e-3 smaller truly spends more.
      const auto less = Answer(AskEpsilon(
          accountant, SampledGaussianEvent(0.01, *noise->value * (1 - 2e-3)), 10000, 1e-5));
      EXPECT_GT(*less->lower, epsilon);
    }
  }
  const auto count = Answer(Ask(Accountant::kPld, {{SampledGaussianEvent(0.01, 1), 1}},
                                Calibrate{2, 1e-6, Variable::kCount}));
  const auto steps = static_cast<int64_t>(*count->value);
  EXPECT_LE(EpsilonWith(Accountant::kPld, SampledGaussianEvent(0.01, 1), steps, 1e-6), 2);
  EXPECT_GT(EpsilonWith(Accountant::kPld, SampledGaussianEvent(0.01, 1), steps + steps / 200, 1e-6),
            2);
}

TEST(Calibrate, MeetsAMuAndAnOperatingPoint) {
  const std::vector<CountedEvent> events = {{MechanismEvent(Gaussian{1}), 4}};
  const auto mu = Answer(Ask(Accountant::kBest, events, Calibrate{.mu = 0.5}));
  ASSERT_TRUE(mu.ok()) << mu.status();
  EXPECT_NEAR(*mu->value, 4, 1e-8);  // sqrt(4) / z
  EXPECT_LE(*mu->upper, 0.5);
  // TPR = Phi(Phi^-1(FPR) + mu): 0.05 at 0.01 is mu = 2.3263479 - 1.6448536 = 0.6814943.
  const auto point =
      Answer(Ask(Accountant::kGaussian, events,
                 Calibrate{.operating_point = Calibrate::OperatingPoint{0.01, 0.05}}));
  ASSERT_TRUE(point.ok()) << point.status();
  EXPECT_NEAR(2 / *point->value, 0.6814943, 1e-6);
  EXPECT_LE(*point->upper, 0.05);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Answer(Ask(Accountant::kGaussian, events,
                 Calibrate{.operating_point = Calibrate::OperatingPoint{0.1, 0.05}}))
          .status()));
}

TEST(Calibrate, TakesTheWholeRangeWhereEverythingFits) {
  EXPECT_EQ(*Answer(Ask(Accountant::kBasic, {{MechanismEvent(PureDp{0}), 1}},
                        Calibrate{1, 0, Variable::kCount}))
                 ->value,
            9007199254740992.0);
  EXPECT_EQ(*Answer(Ask(Accountant::kRenyi, {{SampledGaussianEvent(0.1, 100), 1}},
                        Calibrate{5, 1e-5, Variable::kSamplingProbability}))
                 ->value,
            1);
}

}  // namespace
}  // namespace epsledger::accounting
