#include "client/trainers/istdp/two_phase.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "client/trainers/istdp/sparse_problem.h"
#include "client/trainers/run/transcript_score.h"
#include "tests/client/trainers/run/audited_charge.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 2000;
constexpr int kFeatures = 30;
constexpr TwoPhaseOptions kPhases{.first_steps = 40, .first_share = 0.4, .contribution = 0.6};

// Records what training hands over, and releases it exactly.
class RecordingRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    sums.push_back(exact_sum);
    contributions.push_back(contribution);
    return exact_sum;
  }
  std::vector<Eigen::VectorXd> sums;
  std::vector<double> contributions;
};

class TwoPhaseTest : public testing::Test {
 protected:
  TwoPhaseTest()
      : problem_(MakeSparseProblem({.record_count = kRecords,
                                    .feature_count = kFeatures,
                                    .entries_per_record = 10,
                                    .true_coefficient_count = 5,
                                    .true_coefficient = 8})),
        loss_(*LinearLoss::Create(LogisticMargin{}, problem_.rows, 1.0)) {
    options_.max_steps = 400;
    options_.public_record_count = kRecords;
    options_.steps = BarzilaiBorweinSteps(LipschitzConstant(LogisticMargin{}, 1));
    options_.regularizer = McpPenalty{.lambda = 0.01, .shape = 300};
  }

  std::vector<int> Truth() const { return Support(problem_.truth); }

  SparseProblem problem_;
  LinearLoss loss_;
  TrainingOptions options_;
};

TEST(TwoPhaseNoise, CostsWhatEqualStepsWould) {
  for (const double share : {0.1, 0.4, 0.9}) {
    const TwoPhaseNoise noise =
        TwoPhaseNoiseFor(7, {.first_steps = 10, .first_share = share, .contribution = 1}, 22);
    EXPECT_NEAR(10 / (noise.first * noise.first), share * 22 / 49, 1e-12);
    EXPECT_NEAR(12 / (noise.second * noise.second), (1 - share) * 22 / 49, 1e-12);
  }
}

TEST_F(TwoPhaseTest, WithoutNoiseFindsTheSupportAndItsUnpenalizedFit) {
  ExactRelease first;
  ExactRelease second;
  const auto result = TrainTwoPhase(loss_, options_, kPhases, first, second);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->support, Truth());
  EXPECT_EQ(result->steps, 400);
  EXPECT_EQ(result->releases, 400);
  const auto on_support = loss_.OnColumns(Truth(), 0.6);
  ASSERT_TRUE(on_support.ok());
  EXPECT_LT(on_support->GradientSum(result->last).norm() / kRecords, 1e-6);
}

// What the proof rests on: from the second phase on nothing is asked but of the support, with
// gradients of norm .6 at most, whatever the record is.
TEST_F(TwoPhaseTest, TheSecondPhaseAsksOfTheSupportAloneWithItsOwnBound) {
  RecordingRelease first;
  RecordingRelease second;
  ASSERT_TRUE(TrainTwoPhase(loss_, options_, kPhases, first, second).ok());
  ASSERT_EQ(first.sums.size(), 40u);
  ASSERT_EQ(second.sums.size(), 360u);
  EXPECT_EQ(first.contributions, std::vector<double>(40, 1.0));
  EXPECT_EQ(second.contributions, std::vector<double>(360, 0.6));
  for (const Eigen::VectorXd& sum : second.sums) {
    for (const int j : Support(sum)) {
      const std::vector<int> truth = Truth();
      EXPECT_TRUE(std::binary_search(truth.begin(), truth.end(), j)) << j;
    }
  }
}

TEST_F(TwoPhaseTest, OneRecordMovesASumOnTheSupportByTheBoundAtMost) {
  LabeledRows rows = problem_.rows;
  rows.features = Eigen::MatrixXd(problem_.rows.features.topRows(50)).sparseView();
  rows.labels = problem_.rows.labels.head(50).eval();
  LabeledRows more = rows;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(51, kFeatures);
  dense.topRows(50) = Eigen::MatrixXd(rows.features);
  dense.row(50).setConstant(1e3);
  more.features = dense.sparseView();
  more.labels.conservativeResize(51);
  more.labels[50] = 1;
  const std::vector<int> columns = {0, 7, 29};
  const auto without = LinearLoss::Create(LogisticMargin{}, rows, 1)->OnColumns(columns, 0.6);
  const auto with = LinearLoss::Create(LogisticMargin{}, more, 1)->OnColumns(columns, 0.6);
  ASSERT_TRUE(without.ok() && with.ok());
  for (const double scale : {-1.0, 0.0, 1.0}) {
    const Eigen::VectorXd theta = Eigen::VectorXd::Constant(kFeatures, scale);
    const Eigen::VectorXd moved = with->GradientSum(theta) - without->GradientSum(theta);
    EXPECT_LE(moved.norm(), 0.6);
    EXPECT_EQ(moved[1], 0);
  }
  EXPECT_GT((with->GradientSum(Eigen::VectorXd::Zero(kFeatures)) -
             without->GradientSum(Eigen::VectorXd::Zero(kFeatures)))
                .norm(),
            0.59);
}

// Releases 1 everywhere: noise outside the support.
class OnesRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    return Eigen::VectorXd::Ones(exact_sum.size()).eval();
  }
};

TEST_F(TwoPhaseTest, NoiseOutsideTheSupportIsNotUsed) {
  ExactRelease first;
  OnesRelease second;
  options_.max_steps = 43;
  const auto result = TrainTwoPhase(loss_, options_, kPhases, first, second);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->support, Truth());
}

TEST_F(TwoPhaseTest, StepsAreCountedThroughAndARefusalEndsEitherPhase) {
  std::vector<int> steps;
  const auto count = [&](const StepReport& step) {
    steps.push_back(step.step);
    EXPECT_EQ(step.state.step, step.step);
    EXPECT_EQ(step.theta, step.state.theta);
  };
  for (const int allowed : {7, 45}) {
    steps.clear();
    EndingRelease first(std::min(allowed, 40), absl::FailedPreconditionError("BUDGET_EXHAUSTED"));
    EndingRelease second(allowed - 40, absl::FailedPreconditionError("BUDGET_EXHAUSTED"));
    const auto result = TrainTwoPhase(loss_, options_, kPhases, first, second, count);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->stop_reason, StopReason::kRefused);
    EXPECT_EQ(result->releases, allowed);
    EXPECT_EQ(result->steps, allowed);
    ASSERT_EQ(steps.size(), static_cast<size_t>(allowed));
    for (int i = 0; i < allowed; ++i) EXPECT_EQ(steps[static_cast<size_t>(i)], i + 1);
    EXPECT_EQ(second.calls, allowed > 40 ? 6 : 0);
  }
}

TEST_F(TwoPhaseTest, RefusesWhatIsNoRunOfTwoPhases) {
  EndingRelease release(1000, absl::OkStatus());
  const auto refused = [&](const TrainingOptions& options, const TwoPhaseOptions& phases) {
    return TrainTwoPhase(loss_, options, phases, release, release).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  for (const TwoPhaseOptions& phases :
       {TwoPhaseOptions{.first_steps = 0}, TwoPhaseOptions{.first_steps = 400},
        TwoPhaseOptions{.first_share = 0}, TwoPhaseOptions{.first_share = 1},
        TwoPhaseOptions{.first_share = NAN}, TwoPhaseOptions{.contribution = 0},
        TwoPhaseOptions{.contribution = NAN}, TwoPhaseOptions{.contribution = INFINITY}}) {
    EXPECT_TRUE(refused(options_, phases));
  }
  TrainingOptions l1 = options_;
  l1.regularizer = L1Penalty{0.01};
  EXPECT_TRUE(refused(l1, kPhases));
  EXPECT_EQ(release.calls, 0);
}

// Hands on what is released as what it says of a canary.
class ScoringRelease : public GradientRelease {
 public:
  ScoringRelease(GradientRelease& inner, double canary, double deviation, TranscriptScore& score)
      : inner_(inner), canary_(canary), deviation_(deviation), score_(score) {}
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    absl::StatusOr<Eigen::VectorXd> released = inner_.Release(exact_sum, contribution);
    if (released.ok()) score_.Add(*released, Eigen::VectorXd::Constant(1, canary_), deviation_);
    return released;
  }

 private:
  GradientRelease& inner_;
  const double canary_;
  const double deviation_;
  TranscriptScore& score_;
};

// Two arms: no record, and one whose gradient has the norm of either bound at every step. The
// adversary is meant to see noise of `noise` times the bounds 1 and .6; `bound` is what the second
// phase clips to.
accounting::CanaryScores TwoPhaseScores(const TwoPhaseNoise& noise, double bound) {
  constexpr int kTrials = 20'000;
  TrainingOptions options;
  options.max_steps = 22;
  options.public_record_count = 1;
  options.steps = {.rule = StepRule::kFixed, .first = 1e-9, .bounds = {}};
  options.regularizer = McpPenalty{.lambda = 0, .shape = 2};  // everything is support
  const TwoPhaseOptions phases{.first_steps = 10, .first_share = 0.4, .contribution = bound};
  const auto arm = [&](int records) {
    LabeledRows rows;
    rows.features = Eigen::MatrixXd::Constant(records, 1, 8.0).sparseView();
    rows.labels = Eigen::VectorXd::Zero(records);
    const auto loss = LinearLoss::Create(LogisticMargin{}, std::move(rows), 1);
    SeededGaussianRelease first(21, noise.first);
    // For sums of bound .6, whatever is clipped to.
    SeededGaussianRelease second(22, noise.second * 0.6 / bound);
    std::vector<double> scores;
    for (int trial = 0; trial < kTrials; ++trial) {
      TranscriptScore score(1);
      ScoringRelease first_scored(first, 1, noise.first, score);
      ScoringRelease second_scored(second, bound, noise.second * 0.6, score);
      EXPECT_TRUE(TrainTwoPhase(*loss, options, phases, first_scored, second_scored).ok());
      scores.push_back(score.sum());
    }
    return scores;
  };
  return {.members = arm(1), .non_members = arm(0)};
}

TEST(TwoPhaseAudit, StaysBelowTheChargeAndCatchesAForgottenPhaseOrBound) {
  constexpr double kMuAtFour = 0.9249308977;  // mu(4, 1e-5) of the Gaussian mechanism
  const TwoPhaseNoise noise = TwoPhaseNoiseFor(
      std::sqrt(22) / kMuAtFour, {.first_steps = 10, .first_share = 0.4, .contribution = 0.6}, 22);
  const Charges charges = {GaussianSteps(noise.first, 10), GaussianSteps(noise.second, 12)};
  const accounting::CanaryScores scores = TwoPhaseScores(noise, 0.6);
  const AuditedCharge right = AuditGaussian(scores, charges);
  EXPECT_NEAR(right.claimed, 4, 1e-3);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_GE(right.lower_bound, 0.7 * right.claimed);
  EXPECT_FALSE(right.contradicted);
  // Either phase forgotten.
  for (const accounting::CountedEvent& only : charges) {
    const AuditedCharge forgotten = AuditGaussian(scores, {only});
    EXPECT_LT(forgotten.claimed, 3.1);
    EXPECT_GT(forgotten.lower_bound, forgotten.claimed);
    EXPECT_TRUE(forgotten.contradicted);
  }
  // The second phase, with its noise for .6, clips to 1.
  const AuditedCharge wrong = AuditGaussian(TwoPhaseScores(noise, 1), charges);
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
  EXPECT_TRUE(wrong.contradicted);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
