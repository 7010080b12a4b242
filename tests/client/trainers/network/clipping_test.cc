#include "client/trainers/network/clipping.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace epsledger::trainers::network {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
T FactorOf(double norm, double clip_norm) {
  return (*ClipFactors<T>(Eigen::ArrayXd::Constant(1, norm * norm), clip_norm))[0];
}

TEST(ClipFactors, BringsEveryNormToAtMostTheClipNorm) {
  for (double norm = 1e-6; norm < 1e30; norm *= 1.37) {
    for (const double clip_norm : {1e-3, 1.0, 12.5}) {
      const double factor = FactorOf<float>(norm, clip_norm);
      EXPECT_LE(factor * norm, clip_norm);
      EXPECT_LE(factor, 1);
      EXPECT_GE(factor * norm, std::fmin(norm, clip_norm) * (1 - 2e-6)) << norm;
    }
  }
}

TEST(ClipFactors, LeavesSmallGradientsAlone) {
  EXPECT_EQ(FactorOf<float>(0, 1), 1);
  EXPECT_EQ(FactorOf<float>(0.999999, 1), 1);
  EXPECT_EQ(FactorOf<double>(1 - 1e-14, 1), 1);
  EXPECT_LT(FactorOf<double>(1, 1), 1);
  EXPECT_NEAR(FactorOf<double>(4, 1), 0.25, 1e-15);
}

TEST(ClipFactors, AreZeroForWhatIsNotFinite) {
  EXPECT_EQ(FactorOf<float>(kNan, 1), 0);
  EXPECT_EQ(FactorOf<float>(kInfinity, 1), 0);
  EXPECT_EQ(FactorOf<float>(1e200, 1), 0);  // its square is +inf
  EXPECT_EQ(FactorOf<float>(1e50, 1), 0);   // the factor would be subnormal or 0
}

TEST(ClipFactors, RefusesAClipNormOutsideItsDomain) {
  for (const double clip_norm : {0.0, -1.0, 1e-31, 1e31, kInfinity, kNan}) {
    EXPECT_EQ(ClipFactors<float>(Eigen::ArrayXd::Ones(1), clip_norm).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ClipFactors<float>(Eigen::ArrayXd::Ones(1), -1).status().message(),
            "clip_norm: got -1, want a number in [1e-30, 1e+30]");
}

}  // namespace
}  // namespace epsledger::trainers::network
