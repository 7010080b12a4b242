#include "client/trainers/istdp/as_published.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "client/trainers/istdp/backtracking.h"
#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 500;
constexpr int kFeatures = 20;
constexpr double kLipschitz = 0.25;

class TrainAsPublishedTest : public testing::Test {
 protected:
  TrainAsPublishedTest()
      : problem_(MakeSparseProblem({.record_count = kRecords, .feature_count = kFeatures})),
        loss_(*LinearLoss::Create(LogisticMargin{}, problem_.rows, 1.0)) {
    options_.training.public_record_count = kRecords;
    options_.training.max_steps = 40;
    options_.training.steps = BarzilaiBorweinSteps(kLipschitz);
    options_.training.regularizer = McpPenalty{.lambda = 0.002, .shape = 1500};
    options_.before_initial = Eigen::VectorXd::Constant(kFeatures, -0.02);
  }

  double Objective(const Eigen::VectorXd& theta) const {
    return loss_.ExactLossSum(theta) / kRecords + Penalty(options_.training.regularizer, theta);
  }

  SparseProblem problem_;
  LinearLoss loss_;
  AsPublishedOptions options_;
};

TEST_F(TrainAsPublishedTest, WithExactGradientsObeysLemmaThreeTwoAndItsStepBounds) {
  // Back-tracks at most as the lemma says; the step accepted is the first one or at least
  // eta times the sufficient step; every step decreases F by beta gamma / 2 times the distance.
  options_.line_search = {.shrink = 0.5, .sufficient_decrease = 0.3, .max_backtracks = 60};
  const int bound =
      BacktrackBound({.shrink = 0.5, .sufficient_decrease = 0.3, .lipschitz_constant = kLipschitz},
                     options_.training.steps.bounds.largest);
  const double sufficient = SufficientStep(0.3, kLipschitz);
  int backtracked = 0;
  Eigen::VectorXd previous = Eigen::VectorXd::Zero(kFeatures);
  ExactRelease exact;
  const auto result = TrainAsPublished(
      loss_, options_, [] { return absl::OkStatus(); }, exact,
      [&](const StepReport& report) {
        EXPECT_LE(report.backtracks, bound);
        if (report.backtracks > 0) {
          EXPECT_GE(report.step_size, 0.5 * sufficient * (1 - 1e-12));
          ++backtracked;
        }
        const double distance = (report.theta - previous).squaredNorm();
        EXPECT_GE(Objective(previous) - Objective(report.theta),
                  0.3 * report.step_size / 2 * distance - 1e-12);
        previous = report.theta;
      });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->steps, 40);
  EXPECT_GT(backtracked, 0);
}

TEST_F(TrainAsPublishedTest, ReadsNoRecordBeforeTheLedgerHasTheExactAccess) {
  EndingRelease release(1000, absl::OkStatus());
  int steps = 0;
  const auto refused = TrainAsPublished(
      loss_, options_, [] { return absl::FailedPreconditionError("BUDGET_EXHAUSTED"); }, release,
      [&](const StepReport&) { ++steps; });
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(refused->stop_reason, StopReason::kRefused);
  EXPECT_EQ(refused->releases, 0);
  EXPECT_EQ(release.calls, 0);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(refused->last, Eigen::VectorXd::Zero(kFeatures));
  const auto unknown = TrainAsPublished(
      loss_, options_, [] { return absl::UnavailableError("no answer"); }, release);
  EXPECT_EQ(unknown->stop_reason, StopReason::kReleaseFailed);
  EXPECT_EQ(release.calls, 0);
}

TEST_F(TrainAsPublishedTest, ChargesTheExactAccessOnceAndEveryGradient) {
  int exact_charges = 0;
  EndingRelease release(7, absl::FailedPreconditionError("BUDGET_EXHAUSTED"));
  const auto result = TrainAsPublished(
      loss_, options_,
      [&] {
        ++exact_charges;
        return absl::OkStatus();
      },
      release);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(exact_charges, 1);
  EXPECT_EQ(result->releases, 7);
  EXPECT_EQ(result->stop_reason, StopReason::kRefused);
}

TEST_F(TrainAsPublishedTest, CapsBacktracksAgainstANoisyDirection) {
  // With noise alone the test fails for ever in half of the steps (erratum 4).
  options_.line_search.max_backtracks = 12;
  SeededGaussianRelease release(1, 1e6);
  int at_the_cap = 0;
  const auto result = TrainAsPublished(
      loss_, options_, [] { return absl::OkStatus(); }, release,
      [&](const StepReport& report) { at_the_cap += report.backtracks == 12; });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->steps, 40);
  EXPECT_GT(at_the_cap, 5);
}

TEST_F(TrainAsPublishedTest, RefusesOptionsOutsideTheirDomain) {
  std::vector<AsPublishedOptions> bad(7, options_);
  bad[0].training.steps = FixedSteps(kLipschitz);
  bad[1].line_search.shrink = 1;
  bad[2].line_search.sufficient_decrease = 0;
  bad[3].line_search.max_backtracks = -1;
  bad[4].before_initial = Eigen::VectorXd::Zero(kFeatures - 1);
  bad[5].training.batches = {.sampling_probability = 0.5, .draw = [] { return Batch(); }};
  bad[6].training.resumed = {.step = 3,
                             .theta = options_.before_initial,
                             .previous_theta = options_.before_initial,
                             .previous_gradient = options_.before_initial,
                             .averaged = options_.before_initial,
                             .step_size = 1};
  for (size_t k = 0; k < bad.size(); ++k) {
    EndingRelease release(1000, absl::OkStatus());
    bool charged = false;
    const auto result = TrainAsPublished(
        loss_, bad[k],
        [&] {
          charged = true;
          return absl::OkStatus();
        },
        release);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << k;
    EXPECT_FALSE(charged) << k;
    EXPECT_EQ(release.calls, 0) << k;
  }
}

// The paper's theorem 3.4 claims E[F(theta^T) - F*] <= ||theta^1 - theta*||^2 / (2 T gamma_min),
// "so any accuracy". On f = ||theta||^2 / 2 with d = 50, noise 1 and step 1/2 the gap does not fall
// below gamma d sigma^2 / (2 (2 - gamma)) = 8.33.
TEST(TheoremThreeFour, IsRefutedBySimulation) {
  constexpr int kDimensions = 50;
  constexpr double kStep = 0.5;
  constexpr int kRuns = 200;
  const double asymptote = kStep * kDimensions / (2 * (2 - kStep));
  EXPECT_NEAR(asymptote, 8.33, 0.01);
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal;
  const Eigen::VectorXd start =
      Eigen::VectorXd::Constant(kDimensions, std::sqrt(57.0 / kDimensions));
  for (const int iterations : {10, 100, 1000, 10'000}) {
    // The mean over runs, and for long runs over the last half of the steps too.
    double gap = 0;
    const int runs = std::max(1, kRuns * 10 / iterations);
    int counted = 0;
    for (int run = 0; run < runs; ++run) {
      Eigen::VectorXd theta = start;
      for (int k = 1; k < iterations; ++k) {
        for (double& value : theta) value -= kStep * (value + normal(generator));
        if (k == iterations - 1 || (iterations > 100 && k > iterations / 2)) {
          gap += theta.squaredNorm() / 2;
          ++counted;
        }
      }
    }
    gap /= counted;
    const double printed = start.squaredNorm() / (2 * iterations * kStep);
    RecordProperty("gap_after_" + std::to_string(iterations), std::to_string(gap));
    RecordProperty("printed_bound_" + std::to_string(iterations), std::to_string(printed));
    EXPECT_GT(gap, 7.6) << iterations;
    EXPECT_LT(gap, 9.2) << iterations;
    EXPECT_GT(gap, printed * 1.3) << iterations;
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
