#include "accounting/renyi/closed_form.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

constexpr double kOrders[] = {1 + 1e-9, 1.001, 1.5, 2, 7.25, 64, 1e4, 1e8};

void ExpectJustAbove(double bound, const Real& truth, double order, double parameter) {
  EXPECT_TRUE(truth <= Real(bound)) << order << " " << parameter;
  const double t = truth.ToDouble();
  EXPECT_LE(bound, t * (1 + 1e-9)) << order << " " << parameter;
}

TEST(LaplaceRenyi, IsJustAboveItsClosedForm) {
  for (const double a : kOrders) {
    for (const double z : {0.01, 0.3, 1.0, 8.0, 1e3, 1e6}) {
      const Real theta = Real(1) / z;
      const Real weight = Real(a) / (Real(2) * a - 1);
      const Real moment =
          weight * Exp((Real(a) - 1) * theta) + (Real(1) - weight) * Exp(-Real(a) * theta);
      ExpectJustAbove(LaplaceRenyi(a, z, 1), Log(moment) / (Real(a) - 1), a, z);
    }
  }
}

TEST(PureDpRenyi, IsJustAboveBinaryRandomizedResponse) {
  for (const double a : kOrders) {
    for (const double epsilon : {1e-8, 1e-3, 0.1, 1.0, 5.0, 40.0}) {
      const Real p = Real(1) / (Real(1) + Exp(-Real(epsilon)));
      const Real x = (Real(a) - 1) * epsilon;
      const Real moment = p * Exp(x) + (Real(1) - p) * Exp(-x);
      ExpectJustAbove(PureDpRenyi(a, epsilon), Log(moment) / (Real(a) - 1), a, epsilon);
      EXPECT_LE(PureDpRenyi(a, epsilon), epsilon);
      EXPECT_LE(PureDpRenyi(a, epsilon), a * epsilon * epsilon / 2 * (1 + 1e-14));
    }
  }
}

TEST(RandomizedResponseRenyi, IsJustAboveTheSumOverItsOutcomes) {
  for (const double a : kOrders) {
    for (const double p : {1e-6, 0.2, 0.5, 0.99}) {
      for (const int64_t k : {2, 10, 1000}) {
        const Real other = Real(p) / static_cast<double>(k);
        const Real self = Real(1) - p + other;
        const Real moment = Pow(self, a) * Pow(other, Real(1) - a) +
                            Pow(other, a) * Pow(self, Real(1) - a) +
                            Real(static_cast<double>(k - 2)) * other;
        ExpectJustAbove(RandomizedResponseRenyi(a, p, k), Log(moment) / (Real(a) - 1), a, p);
      }
    }
  }
}

TEST(BoundedRangeRenyi, IsTheLargestOverAllPositionsOfTheRange) {
  for (const double a : kOrders) {
    for (const double epsilon : {0.01, 0.5, 3.0, 20.0}) {
      // Losses t and t - epsilon, with the probability of t under Q that makes E_Q[e^L] = 1.
      Real largest = 0;
      for (int i = 0; i <= 200; ++i) {
        const Real t = Real(epsilon) * i / 200;
        const Real high = (Exp(-t) - Exp(-epsilon)) / (Real(1) - Exp(-epsilon));
        const Real moment =
            high * Exp(Real(a) * t) + (Real(1) - high) * Exp(Real(a) * (t - epsilon));
        const Real d = Log(moment) / (Real(a) - 1);
        if (largest < d) largest = d;
      }
      const double bound = BoundedRangeRenyi(a, epsilon);
      EXPECT_TRUE(largest <= Real(bound)) << a << " " << epsilon;
      // The grid of positions misses the top by little.
      EXPECT_LE(bound, largest.ToDouble() * 1.006 + 1e-6 * epsilon) << a << " " << epsilon;
      EXPECT_LE(bound, PureDpRenyi(a, epsilon));
      EXPECT_LE(bound, a * epsilon * epsilon / 8 * (1 + 1e-14));
    }
  }
}

TEST(ClosedForms, AnswerTheSpecialValues) {
  EXPECT_EQ(GaussianRenyi(2, 0), 0);
  EXPECT_EQ(GaussianRenyi(2, kInfinity), kInfinity);
  EXPECT_EQ(PureDpRenyi(2, 0), 0);
  // 2 a - 1 overflows here; the answer once was negative.
  EXPECT_GT(LaplaceRenyi(1e308, 1e5, 1), 0.99e-5);
  EXPECT_LE(LaplaceRenyi(1e308, 1e5, 1), 1.01e-5);
  EXPECT_EQ(PureDpRenyi(2, kInfinity), kInfinity);
  EXPECT_EQ(BoundedRangeRenyi(2, 0), 0);
  EXPECT_EQ(LaplaceRenyi(2, 1e-320, 1), kInfinity);
  EXPECT_GT(LaplaceRenyi(1.5, 1e300, 1), 0);
  EXPECT_GT(PureDpRenyi(2, 1e-300), 0);
}

}  // namespace
}  // namespace epsledger::accounting
