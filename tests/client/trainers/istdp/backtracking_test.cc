#include "client/trainers/istdp/backtracking.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "client/trainers/istdp/sound.h"
#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

// The logistic loss with rows of norm 1.
constexpr Backtracking kUnitRows{.lipschitz_constant = 0.25};

TEST(SufficientStep, IsTheRootOfTheConditionAndBelowOneOverL) {
  for (const double beta : {1e-6, 0.1, 0.9}) {
    for (const double lipschitz : {1e-3, 0.25, 40.0}) {
      const double step = SufficientStep(beta, lipschitz);
      EXPECT_NEAR(1 / step - beta * step, lipschitz, 1e-9 * (1 / step));
      EXPECT_LT(step, 1 / lipschitz);
      // The printed form, where it does not cancel.
      if (beta > 0.05 && lipschitz < 1) {
        EXPECT_NEAR(step, (std::sqrt(lipschitz * lipschitz + 4 * beta) - lipschitz) / (2 * beta),
                    1e-12);
      }
    }
  }
  EXPECT_GT(SufficientStep(0.5, 1.7e308), 0);
}

TEST(BacktrackBound, IsEnoughHalvingsToReachTheSufficientStepAndNeverNegative) {
  for (const double beta : {1e-4, 0.3}) {
    for (const double shrink : {0.1, 0.5, 0.9}) {
      for (const double largest : {1e-6, 0.1, 10.0, 400.0}) {
        const int bound = BacktrackBound(
            {.shrink = shrink, .sufficient_decrease = beta, .lipschitz_constant = 0.25}, largest);
        EXPECT_GE(bound, 0);
        EXPECT_LE(largest * std::pow(shrink, bound), SufficientStep(beta, 0.25) * (1 + 1e-9));
      }
    }
  }
  // Where the printed formula gives a negative number.
  EXPECT_EQ(BacktrackBound(kUnitRows, 1e-6), 0);
}

TEST(Backtrack, StopsAtTheFirstPowerThatMeetsTheCondition) {
  for (const double beta : {1e-4, 0.3}) {
    for (const double shrink : {0.1, 0.5, 0.9}) {
      const Backtracking options{
          .shrink = shrink, .sufficient_decrease = beta, .lipschitz_constant = 0.25};
      const double sufficient = SufficientStep(beta, 0.25);
      for (const double step : {1e-3, 1.0, 3.0, 4.0, 5.0, 40.0, 400.0}) {
        const BacktrackedStep got = Backtrack(options, step);
        EXPECT_NEAR(got.step_size, step * std::pow(shrink, got.backtracks), 1e-12 * step);
        EXPECT_LE(got.backtracks, BacktrackBound(options, step));
        EXPECT_GE(1 / got.step_size - beta * got.step_size, 0.25 - 1e-12);
        if (step <= sufficient) {
          EXPECT_EQ(got.backtracks, 0);
          EXPECT_EQ(got.step_size, step);
        } else {
          EXPECT_GT(got.step_size, shrink * sufficient * (1 - 1e-12));
        }
      }
    }
  }
}

TEST(ValidateBacktracking, RefusesWhatIsOutsideTheDomain) {
  EXPECT_TRUE(ValidateBacktracking(kUnitRows, 400).ok());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Backtracking bad[] = {
      {.shrink = 0, .lipschitz_constant = 1},
      {.shrink = 1, .lipschitz_constant = 1},
      {.shrink = nan, .lipschitz_constant = 1},
      {.shrink = 0.9999999, .lipschitz_constant = 1},  // ten million back-tracks
      {.sufficient_decrease = 0, .lipschitz_constant = 1},
      {.sufficient_decrease = 1, .lipschitz_constant = 1},
      {.sufficient_decrease = nan, .lipschitz_constant = 1},
      {.lipschitz_constant = 0},
      {.lipschitz_constant = -1},
      {.lipschitz_constant = infinity},
      {.lipschitz_constant = nan}};
  for (const Backtracking& options : bad) {
    EXPECT_EQ(ValidateBacktracking(options, 400).code(), absl::StatusCode::kInvalidArgument)
        << options.shrink << " " << options.sufficient_decrease << " "
        << options.lipschitz_constant;
  }
  EXPECT_EQ(ValidateBacktracking({.shrink = 2, .lipschitz_constant = 1}, 400).message(),
            "Backtracking.shrink: got 2, want in (0, 1)");
}

class TrainBacktrackingTest : public testing::Test {
 protected:
  static constexpr int kCount = 500;
  static constexpr int kColumns = 20;

  TrainBacktrackingTest()
      : problem_(MakeSparseProblem({.record_count = kCount, .feature_count = kColumns})),
        loss_(*LinearLoss::Create(LogisticMargin{}, problem_.rows, 1.0)) {
    options_.public_record_count = kCount;
    options_.max_steps = 40;
    options_.steps = BarzilaiBorweinSteps(kUnitRows.lipschitz_constant);
    options_.regularizer = McpPenalty{.lambda = 0.002, .shape = 1500};
  }

  double Objective(const Eigen::VectorXd& theta) const {
    return loss_.ExactLossSum(theta) / kCount + Penalty(options_.regularizer, theta);
  }

  SparseProblem problem_;
  LinearLoss loss_;
  TrainingOptions options_;
};

TEST_F(TrainBacktrackingTest, WithoutNoiseEveryStepIsNearGammaBarAndDecreasesTheObjective) {
  // Lemma 3.2 with exact gradients, for which Barzilai-Borwein steps are at least 1/L.
  const Backtracking backtracking{
      .shrink = 0.5, .sufficient_decrease = 0.01, .lipschitz_constant = 0.25};
  const double sufficient = SufficientStep(0.01, 0.25);
  Eigen::VectorXd previous = Eigen::VectorXd::Zero(kColumns);
  ExactRelease exact;
  const auto result =
      TrainBacktracking(loss_, options_, backtracking, exact, [&](const StepReport& report) {
        EXPECT_GT(report.step_size, 0.5 * sufficient);
        EXPECT_LE(report.step_size, sufficient);
        EXPECT_GE(report.backtracks, 1);
        EXPECT_GE(Objective(previous) - Objective(report.theta),
                  0.01 * report.step_size / 2 * (report.theta - previous).squaredNorm() - 1e-12);
        previous = report.theta;
      });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->steps, 40);
  EXPECT_EQ(result->releases, 40);  // one each: no back-track is charged
}

TEST_F(TrainBacktrackingTest, WithNoiseObeysTheLemmaWithItsNoiseTerm) {
  // F(theta') <= F(theta) - <b, D> - (beta gamma / 2) ||D||^2, b the noise of the mean gradient.
  constexpr double kBeta = 0.01;
  const Backtracking backtracking{
      .shrink = 0.7, .sufficient_decrease = kBeta, .lipschitz_constant = 0.25};
  options_.max_steps = 200;
  Eigen::VectorXd previous = Eigen::VectorXd::Zero(kColumns);
  int short_steps = 0;
  SeededGaussianRelease release(1, 20);
  const auto result =
      TrainBacktracking(loss_, options_, backtracking, release, [&](const StepReport& report) {
        const Eigen::VectorXd noise =
            report.state.previous_gradient - loss_.GradientSum(previous) / kCount;
        const Eigen::VectorXd move = report.theta - previous;
        EXPECT_LE(Objective(report.theta), Objective(previous) - noise.dot(move) -
                                               kBeta * report.step_size / 2 * move.squaredNorm() +
                                               1e-9);
        EXPECT_GE(report.step_size, options_.steps.bounds.smallest);
        EXPECT_LE(report.step_size, SufficientStep(kBeta, 0.25));
        short_steps += report.backtracks == 0;
        previous = report.theta;
      });
  ASSERT_TRUE(result.ok()) << result.status();
  // Noise makes some Barzilai-Borwein steps shorter than gamma_bar, and those are used as they are.
  EXPECT_GT(short_steps, 0);
}

TEST_F(TrainBacktrackingTest, IsSoundTrainingWhereNoStepIsTooLong) {
  // Bounds so low that nothing is back-tracked.
  options_.steps.bounds = {.smallest = 0.5, .largest = 2};
  options_.steps.first = 1;
  SeededGaussianRelease one(3, 5);
  SeededGaussianRelease other(3, 5);
  const auto backtracked = TrainBacktracking(loss_, options_, kUnitRows, one);
  const auto sound = TrainSound(loss_, options_, other);
  ASSERT_TRUE(backtracked.ok());
  ASSERT_TRUE(sound.ok());
  EXPECT_EQ(backtracked->last, sound->last);
}

TEST_F(TrainBacktrackingTest, RefusesOptionsOutsideTheirDomain) {
  EndingRelease release(1000, absl::OkStatus());
  const auto refused = [&](const TrainingOptions& options, const Backtracking& backtracking) {
    return TrainBacktracking(loss_, options, backtracking, release).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(options_, {.lipschitz_constant = 0}));
  TrainingOptions fixed = options_;
  fixed.steps = FixedSteps(0.25);
  EXPECT_TRUE(refused(fixed, kUnitRows));
  TrainingOptions no_steps = options_;
  no_steps.max_steps = 0;
  EXPECT_TRUE(refused(no_steps, kUnitRows));
  EXPECT_EQ(release.calls, 0);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
