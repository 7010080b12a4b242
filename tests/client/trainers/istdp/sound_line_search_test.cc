#include "client/trainers/istdp/sound_line_search.h"

#include "gtest/gtest.h"

#include <cmath>
#include <vector>

#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 1000;
constexpr int kFeatures = 20;

// Records what it is handed.
class CountingRelease : public GradientRelease {
 public:
  explicit CountingRelease(int allowed) : left_(allowed) {}
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    if (left_-- <= 0) return absl::FailedPreconditionError("BUDGET_EXHAUSTED");
    ++calls;
    sizes.push_back(exact_sum.size());
    contributions.push_back(contribution);
    return exact_sum;
  }
  int calls = 0;
  std::vector<Eigen::Index> sizes;
  std::vector<double> contributions;

 private:
  int left_;
};

class LineSearchTest : public testing::Test {
 protected:
  LineSearchTest()
      : problem_(MakeSparseProblem({.record_count = kRecords, .feature_count = kFeatures})),
        loss_(*LinearLoss::Create(LogisticMargin{}, problem_.rows, 1.0)) {
    options_.public_record_count = kRecords;
    options_.max_steps = 20;
    options_.steps = BarzilaiBorweinSteps(0.25);
    options_.regularizer = McpPenalty{.lambda = 0.002, .shape = 1500};
  }
  double Objective(const Eigen::VectorXd& theta) const {
    return loss_.ExactLossSum(theta) / kRecords + Penalty(options_.regularizer, theta);
  }
  SparseProblem problem_;
  LinearLoss loss_;
  TrainingOptions options_;
  const LineSearchOptions line_search_{.candidates = 5, .shrink = 0.5};
};

TEST(LineSearchNoiseFor, CostsAsMuchAsOneStep) {
  for (const double share : {0.01, 0.2, 0.9}) {
    const LineSearchNoise split = LineSearchNoiseFor(7, share);
    const double comparison = 1 / (split.comparison * split.comparison);
    EXPECT_NEAR(1 / (split.gradient * split.gradient) + comparison, 1.0 / 49, 1e-15);
    EXPECT_NEAR(comparison, share / 49, 1e-15);
  }
}

TEST_F(LineSearchTest, MakesTwoReleasesAStepWithTheirSensitivities) {
  CountingRelease gradients(1000);
  CountingRelease comparisons(1000);
  const auto result = TrainSoundLineSearch(loss_, options_, line_search_, gradients, comparisons);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->steps, 20);
  EXPECT_EQ(result->releases, 40);
  EXPECT_EQ(gradients.calls, 20);
  EXPECT_EQ(comparisons.calls, 20);
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(gradients.sizes[k], kFeatures);
    EXPECT_EQ(gradients.contributions[k], 1);
    EXPECT_EQ(comparisons.sizes[k], 5);
    EXPECT_EQ(comparisons.contributions[k], std::sqrt(5));
  }
}

TEST_F(LineSearchTest, WithoutNoiseDescendsUnlessItTookTheLastCandidate) {
  ExactRelease gradients;
  ExactRelease comparisons;
  double previous = Objective(Eigen::VectorXd::Zero(kFeatures));
  int descended = 0;
  const auto result = TrainSoundLineSearch(loss_, options_, line_search_, gradients, comparisons,
                                           [&](const StepReport& report) {
                                             const double now = Objective(report.theta);
                                             if (report.backtracks < 4) {
                                               EXPECT_LE(now, previous + 1e-9) << report.step;
                                               ++descended;
                                             }
                                             previous = now;
                                           });
  ASSERT_TRUE(result.ok());
  EXPECT_GT(descended, 10);
}

TEST_F(LineSearchTest, ARefusedComparisonStopsBeforeTheStep) {
  CountingRelease gradients(1000);
  CountingRelease comparisons(3);
  int reports = 0;
  const auto result = TrainSoundLineSearch(loss_, options_, line_search_, gradients, comparisons,
                                           [&](const StepReport&) { ++reports; });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stop_reason, StopReason::kRefused);
  EXPECT_EQ(result->steps, 3);
  EXPECT_EQ(result->releases, 7);
  EXPECT_EQ(reports, 3);
}

TEST_F(LineSearchTest, RefusesOptionsOutsideTheirDomain) {
  for (const LineSearchOptions& bad :
       {LineSearchOptions{.candidates = 1}, LineSearchOptions{.candidates = 65},
        LineSearchOptions{.shrink = 1}, LineSearchOptions{.shrink = std::nan("")},
        LineSearchOptions{.sufficient_decrease = 0}}) {
    CountingRelease release(1000);
    EXPECT_EQ(TrainSoundLineSearch(loss_, options_, bad, release, release).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(release.calls, 0);
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
