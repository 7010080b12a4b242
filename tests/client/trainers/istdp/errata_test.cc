// The errata of Yuan and Peng (2023) that no other test shows, by their numbers in the table of
// client/trainers/istdp/README.md. Each test computes the printed line and the corrected one.

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "accounting/gaussian/profile.h"
#include "client/trainers/istdp/bb_step.h"
#include "client/trainers/istdp/mcp_prox.h"
#include "client/trainers/istdp/published_noise.h"

namespace epsledger::trainers::istdp {
namespace {

// delta at epsilon of Gaussian noise whose sensitivity / standard deviation is mu.
double GaussianDeltaAt(double mu, double epsilon) {
  return std::exp(accounting::GaussianLogDelta(mu, epsilon).lower);
}

// The standard deviation / sensitivity of the paper's Theorem 3.1.
double ClassicalNoise(double epsilon, double delta) {
  return std::sqrt(2 * std::log(1.25 / delta)) / epsilon;
}

// f(theta) = theta^2 / 8 in three dimensions: the gradient is theta / 4, and a step of 4 reaches
// the minimum. The printed denominator gives a step of 16, which is not one: from theta it leads
// to -3 theta.
TEST(IstdpErratum1, TheStepWithTheSquaredGradientDifferenceDiverges) {
  const Eigen::Vector3d theta(1, -2, 2);
  const Eigen::VectorXd gradient = theta / 4;
  const double printed = theta.squaredNorm() / gradient.squaredNorm();
  const double correct =
      BarzilaiBorweinStep({.theta = theta, .released_gradient = gradient}, {1e-3, 1e3});
  EXPECT_EQ(printed, 16);
  EXPECT_EQ(correct, 4);
  EXPECT_EQ(theta - correct * gradient, Eigen::Vector3d::Zero());
  EXPECT_EQ(theta - printed * gradient, -3 * theta);
}

// f(theta) = L theta^2 / 2 without noise or penalty: a step of 1/L from theta = 1 reaches the
// minimum. The test of [GZLHY13] accepts it in every unit of theta; the printed one accepts it for
// L = 1 and refuses it for L = 1/4, which is the same problem with theta in another unit.
TEST(IstdpErratum5, ThePrintedTestRefusesTheStepToTheMinimum) {
  constexpr double kBeta = 0.5;
  for (const double lipschitz : {1.0, 0.25}) {
    const double step = 1 / lipschitz;
    const double decrease = lipschitz / 2;  // F(1) - F(0)
    const double squared_move = 1;
    EXPECT_GE(decrease, kBeta / (2 * step) * squared_move);
    EXPECT_EQ(decrease >= kBeta * step / 2 * squared_move, lipschitz == 1) << lipschitz;
  }
}

// All pairs of subsets of six records: of two sets of one size the symmetric difference is even.
TEST(IstdpErratum6, NoTwoSetsOfOneSizeDifferInOneRecord) {
  constexpr unsigned kSets = 1U << 6;
  int neighbors_of_unequal_size = 0;
  int replace_one = 0;
  for (unsigned a = 0; a < kSets; ++a) {
    for (unsigned b = 0; b < kSets; ++b) {
      const int difference = __builtin_popcount(a ^ b);
      const bool one_size = __builtin_popcount(a) == __builtin_popcount(b);
      EXPECT_FALSE(one_size && difference == 1);
      neighbors_of_unequal_size += difference == 1;
      replace_one += one_size && difference == 2;
    }
  }
  EXPECT_EQ(neighbors_of_unequal_size, 64 * 6);
  EXPECT_GT(replace_one, 0);
}

// Standard normal noise on a count, whose sensitivity is 1, is not (0.1, 1e-5)-DP; noise of the
// printed sigma is.
TEST(IstdpErratum8, StandardNormalNoiseDoesNotDependOnTheBudget) {
  EXPECT_GT(GaussianDeltaAt(1, 0.1), 0.3);
  EXPECT_LT(std::exp(accounting::GaussianLogDelta(1 / ClassicalNoise(0.1, 1e-5), 0.1).upper), 1e-5);
}

TEST(IstdpErratum9, TheExponentIsFourNinths) {
  constexpr double kPi = 3.14159265358979323846;
  EXPECT_NEAR(std::sqrt(2 / kPi) * std::exp(8.0 / 9), 1.941, 1e-3);
  EXPECT_NEAR(std::sqrt(2 / kPi) * std::exp(4.0 / 9), 1.2444, 1e-4);
  // The square of the corrected line.
  EXPECT_LT(2 / kPi * std::exp(8.0 / 9), 1.25 * 1.25);
}

// c^2 - epsilon + epsilon^2 / (4 c^2) - (c^2 - 8/9) at epsilon = 1 is 1 / (4 c^2) - 1/9: 0 at
// c = 3/2, and negative beyond.
TEST(IstdpErratum10, TheInequalityOfTheProofIsFalseBeyondItsEnd) {
  const auto left_minus_right = [](double epsilon, double c) {
    return 8.0 / 9 - epsilon + epsilon * epsilon / (4 * c * c);
  };
  EXPECT_NEAR(left_minus_right(1, 1.5), 0, 1e-15);
  EXPECT_NEAR(left_minus_right(1, 2), -0.049, 1e-3);
  EXPECT_NEAR(left_minus_right(1, 10), -0.109, 1e-3);
  EXPECT_GT(left_minus_right(8.0 / 9, 10), 0);
}

// The statement of Theorem 3.1 holds all the same, up to an epsilon between 8 and 9 at 1e-5.
TEST(IstdpErratum10, TheStatementOfTheTheoremIsTrue) {
  for (const double delta : {1e-3, 1e-5, 1e-9}) {
    for (double epsilon = 0.05; epsilon < 1.01; epsilon += 0.05) {
      const double mu = 1 / ClassicalNoise(epsilon, delta);
      EXPECT_LT(accounting::GaussianLogDelta(mu, epsilon).upper, std::log(delta)) << epsilon;
    }
  }
  EXPECT_LT(GaussianDeltaAt(1 / ClassicalNoise(8, 1e-5), 8), 1e-5);
  EXPECT_GT(GaussianDeltaAt(1 / ClassicalNoise(9, 1e-5), 9), 1e-5);
}

// v = (3, 4), noise x with coordinate 2 along v and 5 across it: ||x + v||^2 - ||x||^2 is ||v||^2 +
// 2 * 2 ||v|| = 45. With the printed ||v||^2 it would be 125.
TEST(IstdpErratum11, TheCrossTermHasTheNormOfVAndNotItsSquare) {
  const Eigen::Vector2d v(3, 4);
  const double along = 2;
  const Eigen::Vector2d x = along * v / 5 + 5 * Eigen::Vector2d(-4, 3) / 5;
  const double exact = (x + v).squaredNorm() - x.squaredNorm();
  EXPECT_NEAR(exact, v.squaredNorm() + 2 * along * v.norm(), 1e-12);
  EXPECT_NEAR(exact, 45, 1e-12);
  EXPECT_EQ(v.squaredNorm() + 2 * along * v.squaredNorm(), 125);
}

// Erratum 12 is none: with sigma = c Delta / epsilon the loss of N(0, sigma^2) against a shift by
// Delta is epsilon exactly at c^2 Delta / epsilon - Delta / 2.
TEST(IstdpErratum12, ThePrintedEndOfTheRegionsIsRight) {
  const double c = 3, shift = 0.5, epsilon = 0.75;
  const double sigma = c * shift / epsilon;
  const double end = c * c * shift / epsilon - shift / 2;
  EXPECT_DOUBLE_EQ(end, sigma * sigma * epsilon / shift - shift / 2);
  EXPECT_DOUBLE_EQ((2 * end * shift + shift * shift) / (2 * sigma * sigma), epsilon);
}

// The probability of a set (bits) of outcomes under integer masses.
int64_t MassOf(unsigned set, const std::vector<int64_t>& masses) {
  int64_t sum = 0;
  for (size_t s = 0; s < masses.size(); ++s) sum += (set >> s & 1U) != 0 ? masses[s] : 0;
  return sum;
}

// The smallest delta of (0, delta), in the unit of the masses.
int64_t LargestDifference(const std::vector<int64_t>& p, const std::vector<int64_t>& q) {
  int64_t largest = 0;
  for (unsigned set = 0; set < 1U << p.size(); ++set) {
    largest = std::max(largest, MassOf(set, p) - MassOf(set, q));
  }
  return largest;
}

// P uniform on outcomes 0 to 9, P' on 10 to 19: P(s) <= P'(s) + 0.1 for each outcome s, which is
// (0, 0.1) point by point. "Is s below 10?" has probability 1 and 0: the sum of the printed proof
// has ten times the delta.
TEST(IstdpErratum13, PointByPointIsNotSetBySet) {
  std::vector<int64_t> p(20, 0);
  std::vector<int64_t> q(20, 0);
  for (size_t s = 0; s < 10; ++s) p[s] = q[s + 10] = 1;  // in tenths
  for (size_t s = 0; s < 20; ++s) EXPECT_LE(p[s], q[s] + 1);
  const unsigned below_ten = (1U << 10) - 1;
  EXPECT_EQ(MassOf(below_ten, p), 10);
  EXPECT_EQ(MassOf(below_ten, q) + 1, 1);
}

// And (epsilon, delta)-DP does not hold for densities: G_1 is (1, 0.13)-DP in every unit of the
// output, but with a deviation of 1e-3 a density exceeds e times the other by 41.
TEST(IstdpErratum13, AGuaranteeOfSetsIsNoneOfDensities) {
  const double sigma = 1e-3;
  const auto density = [sigma](double z) { return std::exp(-z * z / 2) / (sigma * 2.5066282746); };
  EXPECT_LT(std::exp(accounting::GaussianLogDelta(1, 1).upper), 0.13);
  EXPECT_GT(density(2) - std::exp(1.0) * density(3), 41);
}

// The right proof: a deterministic map sends sets back to sets. All maps of four outcomes to four.
TEST(IstdpErratum13, NoMapOfTheOutcomesRaisesDelta) {
  const std::vector<int64_t> p = {5, 3, 1, 1};
  const std::vector<int64_t> q = {1, 2, 3, 4};
  const int64_t before = LargestDifference(p, q);
  EXPECT_EQ(before, 5);
  for (unsigned map = 0; map < 256; ++map) {
    std::vector<int64_t> mapped_p(4, 0);
    std::vector<int64_t> mapped_q(4, 0);
    for (size_t s = 0; s < 4; ++s) {
      mapped_p[map >> (2 * s) & 3U] += p[s];
      mapped_q[map >> (2 * s) & 3U] += q[s];
    }
    EXPECT_LE(LargestDifference(mapped_p, mapped_q), before) << map;
  }
}

// n gradients of norm at most U = 1. The mean moves by 2 U / n where a record is replaced, as it
// does where one is removed and the divisor is the true count; by U / n0 where the divisor is
// public. The printed sensitivity is 2 U.
TEST(IstdpErratum15, TheMeanGradientMovesByAnNthOfThePrintedSensitivity) {
  constexpr double kCount = 128;
  const double all_up = kCount / kCount;
  const double one_replaced = (kCount - 2) / kCount;
  EXPECT_EQ(all_up - one_replaced, 2 / kCount);
  const double one_removed_true_count = (kCount - 1) / (kCount - 1);  // the one that pointed down
  EXPECT_EQ(one_removed_true_count - one_replaced, 2 / kCount);
  const double one_removed_public_count = (kCount - 1) / kCount;
  EXPECT_EQ(all_up - one_removed_public_count, 1 / kCount);
}

// With delta_k in the place of epsilon_k the noise is five orders of magnitude above what the
// theorem states, and what it states is (epsilon_k, delta_k)-DP.
TEST(IstdpErratum16, TheNoiseIsDividedByEpsilonK) {
  const PublishedCalibration calibration =
      *CalibrateAsPublished({.epsilon = 1, .delta = 1e-5, .iterations = 10});
  const double printed_in_proof =
      std::sqrt(2 * std::log(1.25 / calibration.delta_k)) / calibration.delta_k;
  EXPECT_GT(printed_in_proof / calibration.noise_over_sensitivity, 6e4);
  EXPECT_LT(
      accounting::GaussianLogDelta(1 / calibration.noise_over_sensitivity, calibration.epsilon_k)
          .upper,
      std::log(calibration.delta_k));
}

// Algorithm 1 starts at k = 1 and runs while k < T: T - 1 noised gradients, not T. Lemma 3.1 with
// T - 1 of them is below what the theorem claims.
TEST(IstdpErratum17, TheAlgorithmComposesOneReleaseLess) {
  constexpr int kIterations = 10;
  int releases = 0;
  for (int k = 1; k < kIterations; ++k) ++releases;
  EXPECT_EQ(releases, kIterations - 1);
  const PublishedCalibration calibration =
      *CalibrateAsPublished({.epsilon = 1, .delta = 1e-5, .iterations = kIterations});
  const auto composed = [&](int count) {
    return std::sqrt(2 * count * std::log(1 / calibration.delta_prime)) * calibration.epsilon_k +
           count * calibration.epsilon_k * std::expm1(calibration.epsilon_k);
  };
  EXPECT_LT(composed(kIterations), 1);
  EXPECT_LT(composed(releases), composed(kIterations));
}

// Noise of +-sigma in each of d = 4 coordinates, all 16 draws: E b = 0 and E <b, theta' - theta> is
// exactly -gamma d sigma^2, since theta' = theta - gamma (g + b). For Gaussian noise the same holds
// (Stein's identity): d = 50, gamma = 1/2, sigma = 1 give -25.
TEST(IstdpErratum18, TheInnerProductWithTheNoiseHasNoMeanOfZero) {
  constexpr double kStep = 0.5, kSigma = 2;
  const Eigen::Vector4d gradient(1, -3, 0.5, 2);
  Eigen::Vector4d noise_sum = Eigen::Vector4d::Zero();
  double product_sum = 0;
  for (unsigned draw = 0; draw < 16; ++draw) {
    Eigen::Vector4d noise;
    for (int j = 0; j < 4; ++j) noise[j] = (draw >> j & 1U) != 0 ? kSigma : -kSigma;
    noise_sum += noise;
    product_sum += noise.dot(-kStep * (gradient + noise));
  }
  EXPECT_EQ(noise_sum, Eigen::Vector4d::Zero());
  EXPECT_EQ(product_sum / 16, -kStep * 4 * kSigma * kSigma);
}

// With the MCP prox it is between -kappa gamma d sigma^2 and 0, kappa = a / (a - gamma), since the
// firm threshold has slopes in [0, kappa]; somewhere it is below -gamma d sigma^2.
TEST(IstdpErratum18, WithThePenaltyTheCorrectedBoundHolds) {
  const McpPenalty penalty{.lambda = 1, .shape = 3};
  constexpr double kStep = 0.5, kSigma = 0.25;
  const double kappa = penalty.shape / (penalty.shape - kStep);
  double lowest = 0;
  for (double point = -5; point <= 5; point += 0.01) {
    const double up = McpProx(penalty, kStep, point - kStep * kSigma);
    const double down = McpProx(penalty, kStep, point + kStep * kSigma);
    const double mean = (kSigma * up - kSigma * down) / 2;  // of <b, theta'>, d = 1
    EXPECT_LE(mean, 0);
    EXPECT_GE(mean, -kappa * kStep * kSigma * kSigma * (1 + 1e-12));
    lowest = std::min(lowest, mean);
  }
  EXPECT_LT(lowest, -kStep * kSigma * kSigma);
}

// lambda = 1, a = 2: phi(1) = 3/4 with slope 1/2, and phi(2) = 1 < 3/4 + 1/2. With the term of weak
// convexity, -(u - v)^2 / (2 a) = -1/4, it is an equality.
TEST(IstdpErratum20, McpHasNoSubgradientInequality) {
  const McpPenalty penalty{.lambda = 1, .shape = 2};
  const double slope = 1 - 1 / penalty.shape;
  const double linear = McpValue(penalty, 1) + slope * (2.0 - 1.0);
  EXPECT_LT(McpValue(penalty, 2), linear);
  EXPECT_DOUBLE_EQ(McpValue(penalty, 2), linear - 1 / (2 * penalty.shape));
  for (double u = -4; u <= 4; u += 0.125) {
    EXPECT_GE(McpValue(penalty, u),
              McpValue(penalty, 1) + slope * (u - 1) - (u - 1) * (u - 1) / (2 * penalty.shape));
  }
}

// The proof sets E||xi - g||^2 = 0. It is d sigma^2: all 16 draws of +-sigma in four coordinates.
TEST(IstdpErratum20, TheNoiseHasAVariance) {
  constexpr double kSigma = 2;
  double sum = 0;
  for (unsigned draw = 0; draw < 16; ++draw) {
    for (int j = 0; j < 4; ++j) {
      const double noise = (draw >> j & 1U) != 0 ? kSigma : -kSigma;
      sum += noise * noise;
    }
  }
  EXPECT_EQ(sum / 16, 4 * kSigma * kSigma);
}

// The logistic loss of one record of class 1 decreases for ever, so f has no bounded level sets.
// Nor has F with MCP, which is at most a lambda^2 / 2; F with L1 has.
TEST(IstdpErratum23, BoundedLevelSetsOfFAndOfItsLossAreTwoAssumptions) {
  const McpPenalty penalty{.lambda = 0.1, .shape = 2};
  const auto loss = [](double t) { return std::log1p(std::exp(-t)); };
  const double start = std::log(2.0);  // F(0), for both penalties
  for (const double t : {10.0, 100.0, 1e6}) {
    EXPECT_LT(loss(t) + McpValue(penalty, t), start) << t;
    EXPECT_GT(loss(t) + penalty.lambda * t, start) << t;
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
