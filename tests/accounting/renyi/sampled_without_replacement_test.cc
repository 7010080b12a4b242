#include "accounting/renyi/sampled_without_replacement.h"

#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/conversion.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/renyi/sampled_without_replacement_rows.h"

namespace epsledger::accounting {
namespace {

TEST(SampledWithoutReplacementGaussian, AgreesWithTheTableFromAbove) {
  double worst = 0;
  for (const auto& row : kSampledWithoutReplacementRows) {
    const SampledWithoutReplacementGaussian mechanism(row.sampling_fraction, row.noise_multiplier);
    const double d = mechanism.AtInteger(row.order);
    EXPECT_GE(d, row.divergence * (1 - 1e-15))
        << row.sampling_fraction << " " << row.noise_multiplier << " " << row.order;
    EXPECT_LE(mechanism.Divergence(row.order), d);
    worst = std::max(worst, d / row.divergence - 1);
  }
  EXPECT_LT(worst, 1e-10);  // measured 4e-12
}

// dp_accounting, whose divergences at integer orders agree with the theorem's: its epsilon at the
// order it chose among integers, which the best real order improves on.
TEST(SampledWithoutReplacementGaussian, ConvertsToThePublishedEpsilons) {
  struct EpsilonRow {
    double dataset_size, sample_size, noise_multiplier, steps, delta, epsilon;
    int order;
  };
  for (const EpsilonRow& row : {
           EpsilonRow{60000, 256, 1.1, 14062, 1e-8, 6.7595009524601775, 6},
           EpsilonRow{60000, 256, 1.1, 14062, 1e-5, 5.243254241628138, 5},
           EpsilonRow{60000, 256, 1.1, 14062, 1e-3, 3.927347588114953, 4},
           EpsilonRow{50000, 4096, 3, 2468, 1e-8, 20.12357080312765, 3},
           EpsilonRow{50000, 4096, 3, 2468, 1e-5, 16.669693163636577, 3},
           EpsilonRow{50000, 4096, 3, 2468, 1e-3, 13.294829399643469, 2},
           EpsilonRow{1281167, 16384, 2.5, 71589, 1e-8, 20.496192077090495, 3},
           EpsilonRow{1281167, 16384, 2.5, 71589, 8e-7, 18.305178759753552, 3},
           EpsilonRow{1281167, 16384, 2.5, 71589, 1e-3, 13.646710728948356, 2},
           EpsilonRow{1000, 10, 4, 10000, 1e-8, 2.9350294791397022, 12},
           EpsilonRow{1000, 10, 4, 10000, 1e-5, 2.2210584725255402, 9},
           EpsilonRow{1000, 10, 4, 10000, 1e-3, 1.5832717454238558, 7},
       }) {
    SCOPED_TRACE(testing::Message() << row.dataset_size << " " << row.delta);
    const SampledWithoutReplacementGaussian mechanism(row.sample_size / row.dataset_size,
                                                      row.noise_multiplier);
    const double log_delta = std::log(row.delta);
    const double at_order =
        EpsilonAtOrder(row.order, row.steps * mechanism.AtInteger(row.order), log_delta);
    EXPECT_NEAR(at_order, row.epsilon, 1e-9 * row.epsilon);
    const auto divergence = [&](double order) { return row.steps * mechanism.Divergence(order); };
    EXPECT_LE(EpsilonFromRenyi(divergence, log_delta).value, at_order * (1 + 1e-7));
  }
}

// (a - 1) D_a is convex in a, so what is proved at the integers proves the chord, and the bound
// does not decrease.
TEST(SampledWithoutReplacementGaussian, InterpolatesBetweenIntegers) {
  const SampledWithoutReplacementGaussian mechanism(.01, 2);
  double before = 0;
  for (double order = 1.05; order < 40; order += .35) {
    const double d = mechanism.Divergence(order);
    EXPECT_GE(d, before * (1 - 1e-9)) << order;
    before = d;
  }
  const double half_way = .5 * (2 * mechanism.AtInteger(3) + 3 * mechanism.AtInteger(4)) / 2.5;
  EXPECT_NEAR(mechanism.Divergence(3.5) / half_way, 1, 1e-12);
}

TEST(SampledWithoutReplacementGaussian, NeverCostsMoreThanTheWholeDataSet) {
  for (const double s : {.05, .5, 3.0, 1e4}) {
    for (const double order : {1.5, 2.0, 33.3, 128.0, 1000.0, 1e300}) {
      for (const double q : {1e-6, .3, 1.0}) {
        const double d = SampledWithoutReplacementGaussian(q, s).Divergence(order);
        EXPECT_LE(d, GaussianRenyi(order, 1 / s) * (1 + 1e-12));
        EXPECT_GT(d, 0);
      }
    }
  }
  EXPECT_EQ(SampledWithoutReplacementGaussian(.1, 1).Divergence(NAN), INFINITY);
}

// sum_i (-1)^i C(l, i) e^{i (i-1) / (2 s^2)} at 512 bits.
double Truth(int l, double s) {
  Real sum = 0;
  Real choose = 1;
  for (int i = 0; i <= l; ++i) {
    const Real term = choose * Exp(Real(i) * Real(i - 1.0) / (Real(2) * s * s));
    sum = i % 2 == 0 ? sum + term : sum - term;
    choose = choose * Real(l - i) / Real(i + 1.0);
  }
  return Log(sum).ToDouble();
}

TEST(LogCentralMoment, IsJustAboveTheAlternatingSum) {
  double worst = 0;
  for (const double s : {.5, 1.0, 4.0, 30.0}) {
    for (const int l : {2, 4, 10, 32, 64}) {
      const double truth = Truth(l, s);
      const double bound = LogCentralMoment(l, s);
      if (bound == INFINITY) continue;
      EXPECT_GE(bound, truth) << l << " " << s;
      worst = std::max(worst, bound - truth);
    }
  }
  EXPECT_GT(worst, 0);  // something was compared
  EXPECT_LT(worst, 1e-9);
}

}  // namespace
}  // namespace epsledger::accounting
