#include "accounting/renyi/replace_sampled_gaussian.h"

#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// E_Q[(P/Q)^a] - 1 by a plain sum in long double.
long double Excess(long double q, long double shift, long double a) {
  constexpr long double kStep = 2e-3L;
  long double sum = 0;
  for (long double t = -shift - 14; t <= a * shift + 14; t += kStep) {
    const long double p = 1 - q + q * std::exp(shift * t - shift * shift / 2);
    const long double other = 1 - q + q * std::exp(-shift * t - shift * shift / 2);
    const long double ratio = a * std::log(p) + (1 - a) * std::log(other);
    sum += std::exp(ratio - t * t / 2) - (other + a * (p - other)) * std::exp(-t * t / 2);
  }
  return sum * kStep / std::sqrt(2 * std::acos(-1.0L));
}

TEST(ReplaceSampledGaussianRenyi, IsTheDivergenceFromAbove) {
  for (const double q : {1e-3, 0.02, 0.3, 0.9}) {
    for (const double z : {0.5, 1.0, 3.0}) {
      for (const double order : {1.05, 1.5, 2.0, 5.0, 16.0, 47.5}) {
        const double bound = ReplaceSampledGaussianRenyi({q, z}, order);
        const auto truth =
            static_cast<double>(std::log1p(Excess(q, 1 / static_cast<long double>(z), order)) /
                                (static_cast<long double>(order) - 1));
        EXPECT_GE(bound, truth * (1 - 1e-9)) << q << " " << z << " " << order;
        EXPECT_LE(bound, truth * (1 + 1e-6)) << q << " " << z << " " << order;
      }
    }
  }
}

TEST(ReplaceSampledGaussianRenyi, LiesBetweenTheSampledAndTheWholeRelease) {
  for (const double z : {0.02, 0.3, 2.0, 300.0, 1e7}) {
    for (const double order : {1 + 1e-9, 1.2, 3.0, 128.0, 1e4, 1e7}) {
      double before = 0;
      for (const double q : {1e-9, 1e-4, 0.1, 0.7, 1 - 1e-9}) {
        const double bound = ReplaceSampledGaussianRenyi({q, z}, order);
        EXPECT_FALSE(std::isnan(bound)) << q << " " << z << " " << order;
        EXPECT_GT(bound, 0) << q << " " << z << " " << order;
        // A replaced record of the whole data set moves the mean by 2.
        EXPECT_LE(bound, GaussianRenyi(order, 2 / z) * (1 + 1e-9)) << q << " " << z << " " << order;
        // Where a small q takes too many points, its bound is that of joint convexity.
        if (z >= 0.3) {
          EXPECT_GE(bound, before * (1 - 1e-6)) << q << " " << z << " " << order;
        }
        // One of the two contributions is left out: not worse than both.
        if (bound < 1e300 && z >= 0.3 && order <= 128) {
          EXPECT_GE(bound, SampledGaussianRemoveRenyi({q, z}, order) * (1 - 1e-6))
              << q << " " << z << " " << order;
        }
        before = bound;
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
