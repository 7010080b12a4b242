#include "accounting/renyi/sampled_gaussian.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/renyi/sampled_gaussian_rows.h"

namespace epsledger::accounting {
namespace {

// D_a at 512 bits: the plain definition, by a trapezoid rule whose step and range leave an error
// below 1e-30 at the parameters used here. power is a (remove) or 1 - a (add).
double GaussianTruth(double q, double s, double order, double power) {
  const double step = std::min(0.1, s / 8);
  const double right = 18 + std::max(0.0, power) / s;
  Real moment = 0;
  for (double i = -std::ceil(18 / step) - (power < 0 ? 200 : 0); i * step < right; ++i) {
    const Real t = Real(i) * step;
    const Real g = Real(1) - q + Real(q) * Exp(t / s - Real(1) / (Real(2) * s * s));
    moment = moment + Pow(g, power) * Exp(-t * t / 2);
  }
  moment = moment * step / Sqrt(Real::Pi() * 2);
  return (Log(moment) / (Real(order) - 1)).ToDouble();
}

TEST(SampledGaussianRemoveRenyi, AgreesWithTheTableFromAbove) {
  double worst = 0;
  for (const auto& row : kSampledGaussianRows) {
    const SampledGaussian mechanism{row.sampling_probability, row.noise_multiplier};
    const double d = SampledGaussianRemoveRenyi(mechanism, row.order);
    EXPECT_GE(d, row.remove * (1 - 1e-15))
        << row.sampling_probability << " " << row.noise_multiplier << " " << row.order;
    worst = std::max(worst, d / row.remove - 1);
  }
  EXPECT_LT(worst, 1e-9);  // measured 6e-12
}

TEST(SampledGaussianAddRenyi, AgreesWithTheTableFromAbove) {
  double worst = 0;
  for (const auto& row : kSampledGaussianRows) {
    if (row.add < 0) continue;
    const SampledGaussian mechanism{row.sampling_probability, row.noise_multiplier};
    const double d = SampledGaussianAddRenyi(mechanism, row.order);
    EXPECT_GE(d, row.add * (1 - 1e-15))
        << row.sampling_probability << " " << row.noise_multiplier << " " << row.order;
    EXPECT_LE(d, SampledGaussianRemoveRenyi(mechanism, row.order));
    worst = std::max(worst, d / row.add - 1);
  }
  EXPECT_LT(worst, 1e-8);
}

TEST(SampledGaussianRemoveRenyi, IsAboveTheDefinitionAtHighPrecision) {
  for (const double q : {1e-8, 1e-4, 0.03, 0.5, 0.999}) {
    for (const double s : {0.4, 1.0, 6.0}) {
      for (const double order : {1.0001, 1.3, 2.7, 6.5, 33.3}) {
        const double truth = GaussianTruth(q, s, order, order);
        const double d = SampledGaussianRemoveRenyi({q, s}, order);
        EXPECT_GE(d, truth) << q << " " << s << " " << order;
        EXPECT_LE(d, truth * (1 + 1e-9)) << q << " " << s << " " << order;
      }
    }
  }
}

TEST(SampledGaussianAddRenyi, IsAboveTheDefinitionAtHighPrecision) {
  for (const double q : {1e-8, 0.03, 0.5, 0.999}) {
    for (const double s : {0.4, 1.0, 6.0}) {
      for (const double order : {1.0001, 2.7, 33.3}) {
        const double truth = GaussianTruth(q, s, order, 1 - order);
        const double d = SampledGaussianAddRenyi({q, s}, order);
        EXPECT_GE(d, truth) << q << " " << s << " " << order;
        EXPECT_LE(d, truth * (1 + 1e-8)) << q << " " << s << " " << order;
      }
    }
  }
}

TEST(SampledGaussianQuadrature, EqualsTheBinomialSumAtIntegerOrders) {
  for (const double q : {1e-7, 1e-3, 0.1, 0.9}) {
    for (const double s : {0.35, 0.8, 2.0, 30.0}) {
      for (const int order : {2, 3, 7, 32, 200}) {
        const double sum = SampledGaussianIntegerOrder({q, s}, order);
        const double quadrature = SampledGaussianQuadrature({q, s}, order);
        EXPECT_NEAR(quadrature / sum, 1, 2e-10) << q << " " << s << " " << order;
      }
    }
  }
}

RC_GTEST_PROP(SampledGaussianRemoveRenyi, GrowsWithOrderProbabilityAndInverseNoise, ()) {
  const double q = std::exp(-*rc::gen::inRange(1, 14000) / 1000.0);
  const double s = std::exp(*rc::gen::inRange(-1000, 3500) / 1000.0);
  const double order = 1 + std::exp(*rc::gen::inRange(-8000, 7000) / 1000.0);
  const double d = SampledGaussianRemoveRenyi({q, s}, order);
  constexpr double kSlack = 1 + 1e-9;
  RC_ASSERT(d > 0);
  RC_ASSERT(d <= SampledGaussianRemoveRenyi({q, s}, 1 + (order - 1) * 1.1) * kSlack);
  RC_ASSERT(d <= SampledGaussianRemoveRenyi({std::min(1.0, q * 1.1), s}, order) * kSlack);
  RC_ASSERT(SampledGaussianRemoveRenyi({q, s * 1.1}, order) <= d * kSlack);
  // Never above the release without sampling, nor below the add side.
  RC_ASSERT(d <= order / (2 * s * s) * kSlack);
  RC_ASSERT(SampledGaussianAddRenyi({q, s}, order) <= d);
}

TEST(SampledGaussianRemoveRenyi, IsFinitePositiveAndNeverNaNAtTheEnds) {
  for (const double q : {5e-324, 1e-300, 1e-100, 0.5, 1 - 0x1p-53, 1.0}) {
    for (const double s : {1e-3, 0.05, 1.0, 1e4, 1e8}) {
      for (const double order : {1 + 1e-15, 1.5, 2.0, 100.5, 1e5, 1e9}) {
        const double d = SampledGaussianRemoveRenyi({q, s}, order);
        EXPECT_GT(d, 0) << q << " " << s << " " << order;
        EXPECT_FALSE(std::isnan(d));
        EXPECT_LE(d, order / (2 * s * s) * (1 + 1e-5)) << q << " " << s << " " << order;
        const double add = SampledGaussianAddRenyi({q, s}, order);
        EXPECT_GT(add, 0) << q << " " << s << " " << order;
        EXPECT_LE(add, d);
      }
    }
  }
  // Where the exponent overflows there is no bound, and that is said.
  EXPECT_EQ(SampledGaussianRemoveRenyi({0.5, 1e-200}, 2), kInfinity);
  EXPECT_EQ(SampledGaussianRemoveRenyi({0.5, 1}, std::nan("")), kInfinity);
  EXPECT_EQ(SampledGaussianRemoveRenyi({0.5, 1}, 1), kInfinity);
  EXPECT_GT(SampledGaussianRemoveRenyi({0.5, 1e308}, 2), 0);
}

}  // namespace
}  // namespace epsledger::accounting
