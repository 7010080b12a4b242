#include <cmath>
#include <vector>

#include "accounting/central_limit/berry_esseen.h"
#include "accounting/central_limit/functionals.h"
#include "accounting/central_limit/limit.h"
#include "accounting/event/history.h"
#include "accounting/gaussian/profile.h"
#include "accounting/numeric/constants.h"
#include "accounting/trade_off/tensor_product.h"
#include "gtest/gtest.h"
#include "tests/accounting/central_limit/central_limit_rows.h"

namespace epsledger::accounting {
namespace {

CentralLimitFunctionals Of(Family family, double parameter) {
  switch (family) {
    case Family::kPure:
      return PureFunctionals(parameter);
    case Family::kLaplace:
      return LaplaceFunctionals(parameter);
    case Family::kGaussian:
      return GaussianFunctionals({parameter, parameter});
  }
  return {};
}

void ExpectTight(Bounds bounds, double value, double parameter) {
  EXPECT_LE(bounds.lower, value * (1 + 4e-16)) << parameter;
  EXPECT_GE(bounds.upper, value * (1 - 4e-16)) << parameter;
  EXPECT_LE(bounds.upper - bounds.lower, 1e-12 * value) << parameter;
}

TEST(CentralLimitFunctionals, AgreeWithTheTable) {
  for (const auto& row : kKlRows) {
    ExpectTight(Of(row.family, row.parameter).kl, row.value, row.parameter);
  }
  for (const auto& row : kKappa2Rows) {
    ExpectTight(Of(row.family, row.parameter).kappa2, row.value, row.parameter);
  }
  for (const auto& row : kKappa3Rows) {
    ExpectTight(Of(row.family, row.parameter).kappa3, row.value, row.parameter);
  }
  for (const auto& row : kKappa3BarRows) {
    ExpectTight(Of(row.family, row.parameter).kappa3_bar, row.value, row.parameter);
  }
}

TEST(CentralLimitFunctionals, VarianceIsTheSecondMomentLessTheSquareOfTheFirst) {
  for (const Family family : {Family::kPure, Family::kLaplace, Family::kGaussian}) {
    for (const double parameter : {0.5, 1.0, 3.0, 20.0}) {
      const auto f = Of(family, parameter);
      const double difference = f.kappa2.upper - f.kl.upper * f.kl.upper;
      EXPECT_NEAR(f.variance.upper, difference, 1e-12 * f.kappa2.upper) << parameter;
    }
  }
  // Where that subtraction leaves nothing: epsilon^2 / cosh^2(epsilon/2), and 3 for Laplace.
  EXPECT_NEAR(PureFunctionals(80).variance.upper / (6400 * 4 * std::exp(-80.0)), 1, 1e-12);
  EXPECT_NEAR(LaplaceFunctionals(1e5).variance.upper, 3, 1e-9);
}

TEST(CentralLimitFunctionals, LaplaceBranchesMeet) {
  // Either side of the arguments where the sums change their form.
  for (const double theta : {80.0, 160.0}) {
    const auto below = LaplaceFunctionals(theta * (1 - 1e-12));
    const auto above = LaplaceFunctionals(theta * (1 + 1e-12));
    EXPECT_NEAR(below.kappa3.upper / above.kappa3.upper, 1, 1e-11);
    EXPECT_NEAR(below.kappa3_bar.upper / above.kappa3_bar.upper, 1, 1e-11);
  }
}

TEST(CentralLimitFunctionals, KnowTheEventsOfSymmetricFunctions) {
  const Setting setting;
  EXPECT_NEAR(FunctionalsOf(Gaussian{2}, setting)->kl.upper, 0.125, 1e-14);
  EXPECT_NEAR(FunctionalsOf(PureDp{1}, setting)->kappa2.upper, 1, 1e-13);
  EXPECT_NEAR(FunctionalsOf(Laplace{0.5}, setting)->kl.upper, 1 + std::exp(-2.0), 1e-12);
  EXPECT_EQ(
      FunctionalsOf(PoissonSampled{0.1, MechanismEvent(Gaussian{1})}, setting).status().code(),
      absl::StatusCode::kUnimplemented);
  EXPECT_EQ(PureFunctionals(std::nan("")).kl.upper, kInfinity);
  EXPECT_EQ(LaplaceFunctionals(kInfinity).kl.upper, kInfinity);
}

TEST(CentralLimitParameters, AgreeWithTheTable) {
  for (const auto& row : kMuRows) {
    ExpectTight(Combine({{Of(row.family, row.parameter), row.count}}).mu, row.value, row.parameter);
  }
  for (const auto& row : kGammaRows) {
    ExpectTight(Combine({{Of(row.family, row.parameter), row.count}}).gamma, row.value,
                row.parameter);
  }
}

TEST(CentralLimitParameters, OfDifferentFactorsAgreeWithTheTable) {
  const auto pure = PureFunctionals(0.1);
  const auto laplace = LaplaceFunctionals(0.1);
  const auto gaussian = GaussianFunctionals({0.1, 0.1});
  // 50 x f_{0.1,0}, 100 x laplace(0.1), 20 x G_0.1.
  ExpectTight(Combine({{pure, 50}, {laplace, 100}, {gaussian, 20}}).gamma, 4.6496064691054010448e-2,
              0);
  // 500 x f_{0.01,0}, 5 x f_{0.5,0}.
  const auto two = Combine({{PureFunctionals(0.01), 500}, {PureFunctionals(0.5), 5}});
  ExpectTight(two.mu, 1.1515966171036107721, 0);
  ExpectTight(two.gamma, 2.5741731217413817503e-1, 0);
  // 200 x laplace(0.5), 1000 x laplace(0.01).
  const auto three = Combine({{LaplaceFunctionals(0.5), 200}, {LaplaceFunctionals(0.01), 1000}});
  ExpectTight(three.mu, 6.6462722702774413486, 0);
  ExpectTight(three.gamma, 4.4321712186542741475e-2, 0);
}

TEST(BerryEsseen, UpperEndAgreesWithTheTable) {
  for (const auto& row : kBandUpperRows) {
    const auto parameters = Combine({{PureFunctionals(row.epsilon), row.count}});
    const Bounds band = BerryEsseen(parameters, row.alpha);
    EXPECT_NEAR(band.upper, row.value, 1e-11) << row.epsilon << " " << row.alpha;
    EXPECT_GE(band.upper, row.value * (1 - 1e-15)) << row.epsilon << " " << row.alpha;
  }
}

TEST(BerryEsseen, ContainsTheFunctionOfTheTable) {
  for (const auto& row : kExactRows) {
    const auto parameters = Combine({{PureFunctionals(row.epsilon), row.count}});
    const Bounds band = BerryEsseen(parameters, row.alpha);
    EXPECT_LE(band.lower, row.value);
    EXPECT_GE(band.upper, row.value);
  }
}

TEST(BerryEsseen, ContainsEnumeratedProductsEverywhere) {
  for (const double epsilon : {0.05, 0.2, 0.5}) {
    const int count = 200;
    const auto exact = TensorProduct({{*TradeOffFunction::ApproximateDp(epsilon, 0), count}});
    ASSERT_TRUE(exact.ok());
    const auto parameters = Combine({{PureFunctionals(epsilon), count}});
    bool useful = false;
    for (double alpha = 0; alpha <= 1; alpha += 0.01) {
      const Bounds band = BerryEsseen(parameters, alpha);
      EXPECT_LE(band.lower, exact->At(alpha).upper) << epsilon << " " << alpha;
      EXPECT_GE(band.upper, exact->At(alpha).lower) << epsilon << " " << alpha;
      useful = useful || (band.upper < 0.9 * (1 - alpha) && band.upper > 0);
    }
    EXPECT_TRUE(useful) << epsilon;
  }
  // And Gaussians, whose product is known.
  const auto parameters = Combine({{GaussianFunctionals({0.1, 0.1}), 100}});
  for (double alpha = 0; alpha <= 1; alpha += 0.01) {
    const Bounds band = BerryEsseen(parameters, alpha);
    const Bounds truth = TradeOffFunction::Gaussian(1)->At(alpha);
    EXPECT_LE(band.lower, truth.upper) << alpha;
    EXPECT_GE(band.upper, truth.lower) << alpha;
  }
}

TEST(BerryEsseen, SaysNothingWhereTheTheoremDoesNot) {
  // gamma = 1.2854 for ten f_{4,0}.
  const Bounds wide = BerryEsseen(Combine({{PureFunctionals(4), 10}}), 0.3);
  EXPECT_EQ(wide.lower, 0);
  EXPECT_GE(wide.upper, 0.7);
  const Bounds none = BerryEsseen(Combine({}), 0.3);
  EXPECT_EQ(none.lower, 0);
  EXPECT_GE(none.upper, 0.7);
  EXPECT_EQ(BerryEsseen(Combine({{PureFunctionals(0.01), 10000}}), 1).upper, 0);
  EXPECT_EQ(BerryEsseen(Combine({{PureFunctionals(0.01), 10000}}), std::nan("")).upper, 1);
}

TEST(CentralLimitMu, AgreesWithTheTable) {
  for (const auto& row : kLimitRows) {
    const SampledGaussianSteps steps{row.sampling_probability, row.noise_multiplier, row.steps};
    const double poisson = PoissonLimitMu(steps);
    const double uniform = UniformLimitMu(steps);
    EXPECT_NEAR(poisson / row.mu_poisson, 1, 1e-13) << row.noise_multiplier;
    EXPECT_NEAR(uniform / row.mu_uniform, 1, 1e-12) << row.noise_multiplier;
    const double log_delta = std::log(row.delta);
    EXPECT_NEAR(GaussianEpsilon({poisson, poisson}, log_delta).upper, row.epsilon_poisson,
                1e-6 * row.epsilon_poisson);
    EXPECT_NEAR(GaussianEpsilon({uniform, uniform}, log_delta).upper, row.epsilon_uniform,
                1e-6 * row.epsilon_uniform);
  }
}

TEST(CentralLimitMu, AddsUpAHistory) {
  const MechanismEvent sampled = PoissonSampled{0.01, MechanismEvent(Gaussian{1})};
  const MechanismEvent plain = Gaussian{4};
  const Setting setting;
  const auto mu = CentralLimitMu({{&sampled, 1000}, {&plain, 3}}, setting);
  ASSERT_TRUE(mu.ok());
  EXPECT_NEAR(*mu, std::sqrt(1e-4 * 1000 * std::expm1(1.0) + 3.0 / 16), 1e-13);
  // Noise too small for e^{1/z^2}: unlimited, not zero.
  const MechanismEvent loud = PoissonSampled{0.01, MechanismEvent(Gaussian{0.01})};
  EXPECT_EQ(*CentralLimitMu({{&loud, 1}}, setting), kInfinity);
  EXPECT_EQ(UniformLimitMu({0.01, 0.01, 1}), kInfinity);
}

TEST(CentralLimitMu, RefusesRelationsItDoesNotKnow) {
  const MechanismEvent sampled = PoissonSampled{0.01, MechanismEvent(Gaussian{1})};
  const MechanismEvent subset = SampledWithoutReplacement{100, 10, MechanismEvent(Gaussian{1})};
  const MechanismEvent laplace = Laplace{1};
  Setting replace;
  replace.relation = NeighboringRelation::kReplaceOne;
  const Setting add_or_remove;
  const auto code = [](const MechanismEvent& event, const Setting& setting) {
    return CentralLimitMu({{&event, 1}}, setting).status().code();
  };
  EXPECT_EQ(code(sampled, replace), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(subset, add_or_remove), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(laplace, add_or_remove), absl::StatusCode::kUnimplemented);
  // A replaced record moves the mean by two contributions.
  EXPECT_DOUBLE_EQ(*CentralLimitMu({{&subset, 7}}, replace), UniformLimitMu({0.1, 0.5, 7}));
}

}  // namespace
}  // namespace epsledger::accounting
