#include "epsledger/noise.h"

#include <sys/wait.h>
#include <unistd.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/cpp/normal_sampler.h"
#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger {
namespace {

// An uncharged step does not compile: nobody but a Session makes a permit, and the noise function
// takes nothing else, nor a permit that the caller keeps.
static_assert(!std::is_default_constructible_v<Permit>);
static_assert(!std::is_copy_constructible_v<Permit>);
static_assert(!std::is_copy_assignable_v<Permit>);
static_assert(std::is_nothrow_move_constructible_v<Permit>);
static_assert(!std::is_constructible_v<Permit, std::string, int64_t, Mechanism, int64_t>);
using Noise = decltype(&AddGaussianNoise);
static_assert(std::is_invocable_v<Noise, Permit, double, std::span<double>>);
static_assert(!std::is_invocable_v<Noise, double, std::span<double>>);
static_assert(!std::is_invocable_v<Noise, Permit&, double, std::span<double>>);
static_assert(!std::is_invocable_v<Noise, Mechanism, double, std::span<double>>);
static_assert(!std::is_invocable_v<Noise, std::nullptr_t, double, std::span<double>>);

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class NoiseTest : public ::testing::Test {
 protected:
  Permit Charge(const Mechanism& mechanism, int64_t count = 1) {
    auto client = Client::Connect({.address = ledger_.address()});
    SessionOptions options{.budget = "adult", .session = "run-1"};
    options.create = NewSession{.no_own_cap = true};
    auto session = client->OpenSession(options);
    EXPECT_TRUE(session.ok()) << session.status();
    auto permit = session->Charge(mechanism, count);
    EXPECT_TRUE(permit.ok()) << permit.status();
    return *std::move(permit);
  }

  // Expects the code, and the values as they were.
  void ExpectRefused(Permit permit, double contribution, std::vector<double> sum,
                     absl::StatusCode code) {
    std::vector<double> before = sum;
    EXPECT_EQ(AddGaussianNoise(std::move(permit), contribution, std::span<double>(sum)).code(),
              code);
    for (size_t i = 0; i < sum.size(); ++i) {
      EXPECT_TRUE(sum[i] == before[i] || (std::isnan(sum[i]) && std::isnan(before[i])));
    }
  }

  FakeLedger ledger_;
};

TEST_F(NoiseTest, HasTheMomentsOfItsMultiplierTimesContribution) {
  constexpr int kSize = 200'000;
  std::vector<double> sum(kSize, 1000.0);
  ASSERT_TRUE(AddGaussianNoise(Charge(Mechanism::Gaussian(1.5)), 4, sum).ok());
  double mean = 0;
  for (const double value : sum) mean += (value - 1000) / 6 / kSize;
  double square = 0;
  double fourth = 0;
  for (const double value : sum) {
    const double z = (value - 1000) / 6;
    square += z * z / kSize;
    fourth += z * z * z * z / kSize;
  }
  // Seven standard errors: 1, sqrt(2) and sqrt(96) over sqrt(kSize). Chance of failure < 1e-11.
  EXPECT_NEAR(mean, 0, 7 / std::sqrt(kSize));
  EXPECT_NEAR(square, 1, 7 * std::sqrt(2.0 / kSize));
  EXPECT_NEAR(fourth, 3, 7 * std::sqrt(96.0 / kSize));
}

TEST_F(NoiseTest, FollowsTheNormalDistribution) {
  constexpr int kSize = 100'000;
  std::vector<double> sum(kSize, 0.0);
  const Mechanism sampled = Mechanism::PoissonSampled(0.01, Mechanism::Gaussian(2));
  ASSERT_TRUE(AddGaussianNoise(Charge(sampled), 0.5, sum).ok());
  std::sort(sum.begin(), sum.end());
  double distance = 0;
  for (int i = 0; i < kSize; ++i) {
    const double cdf = 0.5 * std::erfc(-sum[i] / std::sqrt(2.0));
    distance = std::max({distance, cdf - i / double{kSize}, (i + 1) / double{kSize} - cdf});
  }
  // Kolmogorov: P(sqrt(n) D > t) <= 2 exp(-2 t^2), 2e-12 at t = 3.72.
  EXPECT_LT(distance * std::sqrt(kSize), 3.72);
}

TEST_F(NoiseTest, DrawsAreDifferentEachTime) {
  std::vector<double> first(100, 0.0);
  std::vector<double> second(100, 0.0);
  ASSERT_TRUE(AddGaussianNoise(Charge(Mechanism::Gaussian(1)), 1, first).ok());
  ASSERT_TRUE(AddGaussianNoise(Charge(Mechanism::Gaussian(1)), 1, second).ok());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NE(first[i], second[i]);
    EXPECT_NE(first[i], first[(i + 1) % first.size()]);
  }
}

TEST_F(NoiseTest, ResultsLieOnAGridThatDoesNotDependOnTheValues) {
  std::vector<double> sum = {0, 1e-30, 1.0 / 3, 12345.678901234567, -1e6};
  ASSERT_TRUE(AddGaussianNoise(Charge(Mechanism::Gaussian(3)), 1, sum).ok());
  for (const double value : sum) {
    const double steps = value / std::ldexp(1.0, 1 - 40);
    EXPECT_EQ(steps, std::nearbyint(steps));
  }
}

TEST_F(NoiseTest, EmptySumIsFine) {
  std::vector<double> sum;
  EXPECT_TRUE(AddGaussianNoise(Charge(Mechanism::Gaussian(1)), 1, sum).ok());
}

TEST_F(NoiseTest, OtherEventsAreRefused) {
  const Mechanism gaussian = Mechanism::Gaussian(1);
  for (const Mechanism& other :
       {Mechanism::Laplace(1), Mechanism::PureDp(1), Mechanism::Zcdp(1), Mechanism::GaussianDp(1),
        Mechanism::Composed({{gaussian, 1}}), Mechanism::PoissonSampled(0.5, Mechanism::Laplace(1)),
        Mechanism::PoissonSampled(0.5, Mechanism::PoissonSampled(0.5, gaussian))}) {
    ExpectRefused(Charge(other), 1, {1, 2}, absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(NoiseTest, NeedsExactlyOneUse) {
  ExpectRefused(Charge(Mechanism::Gaussian(1), 2), 1, {1, 2}, absl::StatusCode::kInvalidArgument);
  Permit spent = Charge(Mechanism::Gaussian(1));
  Permit taken = std::move(spent);
  ExpectRefused(std::move(spent), 1, {1, 2},  // NOLINT(bugprone-use-after-move): the point
                absl::StatusCode::kInvalidArgument);
  std::vector<double> sum = {1, 2};
  EXPECT_TRUE(AddGaussianNoise(std::move(taken), 1, sum).ok());
}

TEST_F(NoiseTest, PermitOfManyUsesIsGoodForThatManyReleases) {
  Permit block = Charge(Mechanism::Gaussian(1), 3);
  for (int use = 3; use > 0; --use) {
    EXPECT_EQ(block.uses_left(), use);
    absl::StatusOr<Permit> one = block.TakeOne();
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(one->uses_left(), 1);
    EXPECT_EQ(one->charge_name(), block.charge_name());
    std::vector<double> sum = {0};
    EXPECT_TRUE(AddGaussianNoise(*std::move(one), 1, sum).ok());
  }
  EXPECT_EQ(block.TakeOne().status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(NoiseTest, ContributionOutsideItsDomainIsRefused) {
  for (const double contribution : {0.0, -1.0, kInfinity, std::nan(""), 5e-324, 1e-300, 1e308}) {
    ExpectRefused(Charge(Mechanism::Gaussian(100)), contribution, {1, 2},
                  absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(NoiseTest, ValuesThatAreNotFiniteAreRefused) {
  for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
    ExpectRefused(Charge(Mechanism::Gaussian(1)), 1, {1, bad, 2},
                  absl::StatusCode::kInvalidArgument);
  }
}

// One charge, and two processes that hold what it was given.
TEST_F(NoiseTest, AForkedChildHasNoUseOfItsParentsPermit) {
  Permit permit = Charge(Mechanism::Gaussian(1), 2);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<double> sum = {1, 2};
    const bool refused = permit.uses_left() == 0 && !permit.TakeOne().ok() &&
                         !AddGaussianNoise(std::move(permit), 1, std::span<double>(sum)).ok() &&
                         sum == std::vector<double>({1, 2});
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(permit.uses_left(), 2);
  EXPECT_TRUE(permit.TakeOne().ok());
}

TEST_F(NoiseTest, MovedPermitHasNoUseLeft) {
  Permit first = Charge(Mechanism::Gaussian(1), 5);
  Permit second = std::move(first);
  EXPECT_EQ(first.uses_left(), 0);  // NOLINT(bugprone-use-after-move): the point
  EXPECT_EQ(second.uses_left(), 5);
  first = std::move(second);
  EXPECT_EQ(first.uses_left(), 5);
  EXPECT_EQ(second.uses_left(), 0);  // NOLINT(bugprone-use-after-move): the point
}

TEST_F(NoiseTest, DrawsFreshNormalsOfTheStandardDeviation) {
  constexpr int kDraws = 100'001;
  const auto draw = [this] {
    std::vector<double> draws(kDraws);
    EXPECT_TRUE(DrawGaussianNoise(Charge(Mechanism::PureDp(1)), 3, draws).ok());
    return draws;
  };
  const std::vector<double> draws = draw();
  double mean = 0, square = 0, fourth = 0;
  for (const double x : draws) {
    mean += x / kDraws;
    square += x * x / kDraws;
    fourth += x * x * x * x / kDraws;
  }
  // Six standard deviations of each statistic: wrong once in 10^9 runs.
  EXPECT_NEAR(mean, 0, 6 * 3 / std::sqrt(kDraws));
  EXPECT_NEAR(square, 9, 6 * 9 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth, 3 * 81, 6 * 81 * std::sqrt(96.0 / kDraws));
  EXPECT_NE(draws, draw());
  EXPECT_EQ(ledger_.spent(), 2);
}

TEST_F(NoiseTest, RefusesDrawsOutsideItsDomainAndLeavesThemAsTheyWere) {
  const auto expect_refused = [](Permit permit, double deviation, absl::StatusCode code) {
    std::vector<double> draws = {1, 2, 3};
    EXPECT_EQ(DrawGaussianNoise(std::move(permit), deviation, draws).code(), code) << deviation;
    EXPECT_THAT(draws, ::testing::ElementsAre(1, 2, 3));
  };
  const Mechanism event = Mechanism::PureDp(1);
  for (const double bad : {0.0, -1.0, std::nan(""), kInfinity, 1e-310}) {
    expect_refused(Charge(event), bad, absl::StatusCode::kInvalidArgument);
  }
  expect_refused(Charge(event, 2), 1, absl::StatusCode::kInvalidArgument);
  Permit permit = Charge(event);
  const Permit moved = std::move(permit);
  expect_refused(std::move(permit), 1,
                 absl::StatusCode::kInvalidArgument);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(DrawGaussianNoise(Charge(event), 1, {}).ok());
}

TEST(NormalSampler, ReachesTheTails) {
  // P(|z| > 4.5) = 6.8e-6: among 4e6 draws 27 are expected, and none has chance 1.5e-12.
  NormalSampler sampler;
  double largest = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    for (const double draw : sampler.DrawTwo()) largest = std::max(largest, std::abs(draw));
  }
  ASSERT_TRUE(sampler.status().ok());
  EXPECT_GT(largest, 4.5);
  EXPECT_LT(largest, 9.0);
}

// The two halves share their randomness: they must be independent all the same, and so must their
// squares, whose covariance shows what the plain one does not.
TEST(NormalSampler, TheTwoNumbersOfADrawAreIndependent) {
  constexpr int kDraws = 400'000;
  NormalSampler sampler;
  double product = 0, squares = 0, next = 0;
  double previous = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto [first, second] = sampler.DrawTwo();
    product += first * second / kDraws;
    squares += (first * first - 1) * (second * second - 1) / kDraws;
    next += previous * first / kDraws;
    previous = second;
  }
  ASSERT_TRUE(sampler.status().ok());
  // Seven standard errors: 1, 2 and 1 over sqrt(kDraws).
  EXPECT_NEAR(product, 0, 7 / std::sqrt(kDraws));
  EXPECT_NEAR(squares, 0, 14 / std::sqrt(kDraws));
  EXPECT_NEAR(next, 0, 7 / std::sqrt(kDraws));
}

// Each sampler has a key of its own.
TEST(NormalSampler, TwoSamplersDiffer) {
  NormalSampler first;
  NormalSampler second;
  for (int i = 0; i < 100; ++i) EXPECT_NE(first.DrawTwo(), second.DrawTwo());
}

}  // namespace
}  // namespace epsledger
