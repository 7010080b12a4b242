#include "client/trainers/istdp/published_noise.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

#include "accounting/gaussian/calibration.h"
#include "accounting/gaussian/profile.h"
#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

TEST(CalibrateAsPublished, GivesTheNumbersOfTheoremThreePointThree) {
  const struct {
    double epsilon;
    int iterations;
    double want;  // noise / sensitivity at delta 1e-5, from an independent computation
  } cases[] = {
      {1, 10, 169.61954451}, {1, 100, 576.78135568}, {4, 10, 42.40488613}, {4, 100, 144.19533892}};
  for (const auto& c : cases) {
    const absl::StatusOr<PublishedCalibration> calibration =
        CalibrateAsPublished({.epsilon = c.epsilon, .delta = 1e-5, .iterations = c.iterations});
    ASSERT_TRUE(calibration.ok()) << calibration.status();
    EXPECT_NEAR(calibration->noise_over_sensitivity, c.want, 1e-8);
    EXPECT_EQ(calibration->noise_multiplier, 2 * calibration->noise_over_sensitivity);
    EXPECT_DOUBLE_EQ(calibration->delta_k, 1e-5 / (2 * c.iterations));
    EXPECT_DOUBLE_EQ(calibration->delta_prime, 5e-6);
    // What the theorem's proof needs.
    EXPECT_LE(calibration->epsilon_k, 1);
  }
}

TEST(CalibrateAsPublished, IsElevenToSeventeenTimesTheNoiseThatIsNeeded) {
  for (const double epsilon : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    for (const int iterations : {10, 100}) {
      const double published =
          CalibrateAsPublished({.epsilon = epsilon, .delta = 1e-5, .iterations = iterations})
              ->noise_over_sensitivity;
      const double tight =
          std::sqrt(iterations) / accounting::LargestGaussianMu(epsilon, std::log(1e-5));
      EXPECT_GT(published / tight, 11) << epsilon << " " << iterations;
      EXPECT_LT(published / tight, 17) << epsilon << " " << iterations;
    }
  }
}

TEST(CalibrateAsPublished, OfAClaimOfOneIsTrulyATwentieth) {
  // Under replace-one, where its sensitivity 2 U / n is the right one.
  for (const int iterations : {10, 100}) {
    const double mu = std::sqrt(iterations) /
                      CalibrateAsPublished({.epsilon = 1, .delta = 1e-5, .iterations = iterations})
                          ->noise_over_sensitivity;
    const double epsilon = accounting::GaussianEpsilon({mu, mu}, std::log(1e-5)).upper;
    EXPECT_GT(epsilon, 0.0495);
    EXPECT_LT(epsilon, 0.0545);
  }
}

TEST(GaussianCalibration, GivesTheMuOfEachEpsilon) {
  // trainers' README, theorem 1; from an independent computation.
  const struct {
    double epsilon, mu;
  } cases[] = {{0.5, 0.1422105587},
               {1, 0.2680511232},
               {2, 0.5015516892},
               {4, 0.9249308977},
               {8, 1.6660305978}};
  for (const auto& c : cases) {
    EXPECT_NEAR(accounting::LargestGaussianMu(c.epsilon, std::log(1e-5)), c.mu, 5.1e-11);
  }
}

TEST(CalibrateAsPublished, RefusesWhatIsOutsideItsDomain) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const PublishedClaim bad[] = {
      {.epsilon = 0, .iterations = 10},  {.epsilon = nan, .iterations = 10},
      {.epsilon = 41, .iterations = 10}, {.delta = 0, .iterations = 10},
      {.delta = 1, .iterations = 10},    {.delta = nan, .iterations = 10},
      {.epsilon = 1, .iterations = 1}};
  for (const PublishedClaim& claim : bad) {
    EXPECT_EQ(CalibrateAsPublished(claim).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(TrainPublishedNoise, TakesFixedStepsAlone) {
  const SparseProblem problem = MakeSparseProblem({.record_count = 100, .feature_count = 20});
  const LinearLoss loss = *LinearLoss::Create(LogisticMargin{}, problem.rows, 1);
  TrainingOptions options;
  options.public_record_count = 100;
  options.max_steps = 9;
  options.steps = BarzilaiBorweinSteps(0.25);
  EndingRelease release(1000, absl::OkStatus());
  EXPECT_EQ(TrainPublishedNoise(loss, options, release).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(release.calls, 0);
  options.steps = FixedSteps(0.25);
  const absl::StatusOr<TrainingResult> result = TrainPublishedNoise(loss, options, release);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->releases, 9);
  EXPECT_EQ(result->last_step_size, 1);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
