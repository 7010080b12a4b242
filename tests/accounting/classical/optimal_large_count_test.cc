#include <cmath>
#include <limits>

#include "accounting/classical/optimal_homogeneous.h"
#include "gtest/gtest.h"
#include "tests/accounting/classical/binomial_truth.h"

// Counts at which peers overflow, against 512 bits.

namespace epsledger::accounting {
namespace {

struct LargeCase {
  double epsilon0;
  double count;
  double log_delta;
  double widest;  // relative, of epsilon
};

const LargeCase kLargeCases[] = {
    {0.001, 1e6, std::log(1e-6), 1e-10},   {0.001, 1e6, std::log(1e-20), 1e-10},
    {0.001, 1e6, std::log(1e-100), 1e-10}, {0.1, 1e6, std::log(1e-9), 1e-10},
    {0.1, 1e6, std::log(1e-100), 1e-10},   {1e-5, 1e9, std::log(1e-5), 1e-8},
    {1e-5, 1e9, std::log(1e-20), 1e-8},    {1e-4, 1e9, std::log(1e-20), 1e-8},
    {1e-4, 1e9, std::log(1e-100), 1e-8},   {1, 1e9, std::log(1e-20), 1e-8},
};

TEST(OptimalEpsilon, IsRightAtLargeCounts) {
  for (const LargeCase& c : kLargeCases) {
    SCOPED_TRACE(testing::Message() << c.epsilon0 << " " << c.count << " " << c.log_delta);
    const Bounds epsilon = OptimalEpsilon({c.epsilon0, 0}, c.count, c.log_delta);
    EXPECT_LE(epsilon.upper - epsilon.lower, c.widest * epsilon.upper);
    EXPECT_TRUE(Log(OptimalDeltaTruth(c.epsilon0, c.count, epsilon.upper)) <= Real(c.log_delta));
    EXPECT_TRUE(Real(c.log_delta) <= Log(OptimalDeltaTruth(c.epsilon0, c.count, epsilon.lower)));
  }
}

TEST(OptimalLogDelta, IsRightAtLargeCounts) {
  for (const double count : {1e4, 1e6, 1e9}) {
    for (const double scaled : {0.01, 1.0, 20.0}) {  // epsilon0 sqrt(count)
      const double epsilon0 = scaled / std::sqrt(count);
      // From the mean of the loss, (e0/2) e0 count, in units of its standard deviation.
      for (const double z : {-3.0, 0.0, 2.0, 8.0, 30.0}) {
        const double epsilon = std::max(0.0, scaled * scaled / 2 + z * scaled);
        SCOPED_TRACE(testing::Message() << epsilon0 << " " << count << " " << epsilon);
        const Bounds bounds = OptimalLogDelta({epsilon0, 0}, count, epsilon);
        const Real truth = Log(OptimalDeltaTruth(epsilon0, count, epsilon));
        EXPECT_TRUE(Real(bounds.lower) <= truth);
        EXPECT_TRUE(truth <= Real(bounds.upper));
        EXPECT_LT(bounds.upper - bounds.lower, 1e-8);
      }
    }
  }
}

TEST(OptimalLogDelta, StaysNarrowToTheLargestCounts) {
  for (const double count : {1e10, 1e12, 1e14, 0x1p53}) {
    const double epsilon0 = 1 / std::sqrt(count);
    for (const double epsilon : {-1.0, 0.0, 0.5, 5.0, 20.0}) {
      const Bounds bounds = OptimalLogDelta({epsilon0, 0}, count, epsilon);
      EXPECT_LT(bounds.upper - bounds.lower, 1e-7) << count << " " << epsilon;
    }
    // The limit is the Gaussian of mu = 1: delta(0) = 2 Phi(1/2) - 1 ([DRS19] Thm 3.5).
    EXPECT_NEAR(std::exp(OptimalLogDelta({epsilon0, 0}, count, 0).upper), 0.38292492254802624,
                1e-5 + 1 / std::sqrt(count));
  }
}

}  // namespace
}  // namespace epsledger::accounting
