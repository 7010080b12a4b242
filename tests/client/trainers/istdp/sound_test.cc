#include "client/trainers/istdp/sound.h"

#include "gtest/gtest.h"

#include <cmath>
#include <vector>

#include "client/trainers/istdp/evaluation.h"
#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/istdp/special_values.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 2000;
constexpr int kFeatures = 30;

class TrainSoundTest : public testing::Test {
 protected:
  TrainSoundTest()
      : problem_(MakeSparseProblem({.record_count = kRecords,
                                    .feature_count = kFeatures,
                                    .entries_per_record = 10,
                                    .true_coefficient_count = 5,
                                    .true_coefficient = 8})),
        loss_(*LinearLoss::Create(LogisticMargin{}, problem_.rows, 1.0)) {
    options_.public_record_count = kRecords;
    options_.steps = BarzilaiBorweinSteps(LipschitzConstant(LogisticMargin{}, 1));
    options_.regularizer = McpPenalty{.lambda = 0.01, .shape = 300};
  }

  TrainingResult Train(GradientRelease& release, const StepObserver& observer = {}) {
    absl::StatusOr<TrainingResult> result = TrainSound(loss_, options_, release, observer);
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }

  // || theta - prox(theta - step * gradient) || / step: 0 exactly at the fixed points.
  double ProxResidual(const Eigen::VectorXd& theta, double step) const {
    const Eigen::VectorXd gradient = loss_.GradientSum(theta) / kRecords;
    return (theta - Prox(options_.regularizer, step, theta - step * gradient)).norm() / step;
  }

  double TrainingObjective(const Eigen::VectorXd& theta) const {
    return Objective({problem_.rows}, LogisticMargin{}, options_.regularizer, theta);
  }

  SparseProblem problem_;
  LinearLoss loss_;
  TrainingOptions options_;
};

TEST_F(TrainSoundTest, WithoutNoiseConvergesToAFixedPoint) {
  for (const Regularizer& regularizer :
       {Regularizer(McpPenalty{.lambda = 0.01, .shape = 300}), Regularizer(L1Penalty{0.01}),
        Regularizer(L2Penalty{0.01}), Regularizer(ScadPenalty{.lambda = 0.01, .shape = 300}),
        Regularizer(CappedL1Penalty{.lambda = 0.01, .cap = 3})}) {
    options_.regularizer = regularizer;
    options_.max_steps = 2000;
    options_.tolerance = 1e-9;
    ExactRelease release;
    const TrainingResult result = Train(release);
    EXPECT_EQ(result.stop_reason, StopReason::kConverged) << regularizer.index();
    EXPECT_LT(ProxResidual(result.last, 1.0), 1e-7) << regularizer.index();
  }
}

TEST_F(TrainSoundTest, WithoutNoiseAndWithMcpFindsTheSupport) {
  options_.max_steps = 500;
  ExactRelease release;
  const TrainingResult result = Train(release);
  std::vector<int> truth;
  for (int j = 0; j < kFeatures; ++j) {
    if (problem_.truth[j] != 0) truth.push_back(j);
  }
  EXPECT_EQ(result.support, truth);
}

TEST_F(TrainSoundTest, WithoutNoiseAFixedStepObeysTheConvergenceBoundAndDescends) {
  // Theorem 2 of the README with noise 0: the mean squared residual is at most
  // 8 (F(first) - inf F) / (gamma K); inf F >= 0.
  options_.steps = FixedSteps(LipschitzConstant(LogisticMargin{}, 1));
  options_.max_steps = 300;
  ExactRelease release;
  double squared_residuals = 0;
  double previous = TrainingObjective(Eigen::VectorXd::Zero(kFeatures));
  const double first = previous;
  Train(release, [&](const StepReport& report) {
    squared_residuals += report.step_residual * report.step_residual;
    const double now = TrainingObjective(report.theta);
    EXPECT_LE(now, previous + 1e-12) << report.step;
    previous = now;
  });
  EXPECT_LE(squared_residuals / 300, 8 * first / (options_.steps.first * 300));
}

TEST_F(TrainSoundTest, WithNoiseAFixedStepObeysTheConvergenceBound) {
  options_.steps = FixedSteps(LipschitzConstant(LogisticMargin{}, 1));
  options_.max_steps = 300;
  constexpr double kNoiseMultiplier = 20;
  SeededGaussianRelease release(1, kNoiseMultiplier);
  double squared_residuals = 0;
  Train(release, [&](const StepReport& report) {
    squared_residuals += report.step_residual * report.step_residual;
  });
  const double first = TrainingObjective(Eigen::VectorXd::Zero(kFeatures));
  const double variance = std::pow(kNoiseMultiplier / kRecords, 2);
  EXPECT_LE(squared_residuals / 300,
            8 * first / (options_.steps.first * 300) + 8 * kFeatures * variance);
}

TEST_F(TrainSoundTest, ARefusalStopsAfterExactlyTheReleasesThatWereMade) {
  options_.max_steps = 50;
  Eigen::VectorXd after_seven;
  ExactRelease unlimited;
  Train(unlimited, [&](const StepReport& report) {
    if (report.step == 7) after_seven = report.theta;
  });
  EndingRelease release(7, absl::FailedPreconditionError("BUDGET_EXHAUSTED"));
  int reports = 0;
  const TrainingResult result = Train(release, [&](const StepReport&) { ++reports; });
  EXPECT_EQ(result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(result.release_status, absl::FailedPreconditionError("BUDGET_EXHAUSTED"));
  EXPECT_EQ(result.releases, 7);
  EXPECT_EQ(release.calls, 8);  // a refusal is not asked again
  EXPECT_EQ(reports, 7);
  EXPECT_EQ(result.last, after_seven);
}

TEST_F(TrainSoundTest, ARefusalOfTheFirstStepLeavesTheInitialIterate) {
  options_.initial = Eigen::VectorXd::Constant(kFeatures, 0.5);
  EndingRelease release(0, absl::FailedPreconditionError("BUDGET_EXHAUSTED"));
  const TrainingResult result = Train(release);
  EXPECT_EQ(result.stop_reason, StopReason::kRefused);
  EXPECT_EQ(result.releases, 0);
  EXPECT_EQ(result.last, options_.initial);
  EXPECT_EQ(result.averaged, options_.initial);
}

TEST_F(TrainSoundTest, AnyOtherStatusIsAFailedRelease) {
  EndingRelease release(3, absl::UnavailableError("no answer"));
  const TrainingResult result = Train(release);
  EXPECT_EQ(result.stop_reason, StopReason::kReleaseFailed);
  EXPECT_EQ(result.release_status, absl::UnavailableError("no answer"));
  EXPECT_EQ(result.releases, 3);
}

// Releases one fixed vector.
class FixedRelease : public GradientRelease {
 public:
  explicit FixedRelease(Eigen::VectorXd vector) : vector_(std::move(vector)) {}
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd&, double) override {
    return vector_;
  }

 private:
  Eigen::VectorXd vector_;
};

TEST_F(TrainSoundTest, AReleaseThatCannotBeUsedIsCountedAndEndsTraining) {
  for (const Eigen::VectorXd& vector :
       {Eigen::VectorXd::Ones(kFeatures - 1).eval(),
        Eigen::VectorXd::Constant(kFeatures, kNan).eval(),
        Eigen::VectorXd::Constant(kFeatures, 1e308 * 1e10).eval()}) {
    FixedRelease release(vector);
    const TrainingResult result = Train(release);
    EXPECT_EQ(result.stop_reason, StopReason::kReleaseFailed);
    EXPECT_EQ(result.release_status.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(result.releases, 1);
    EXPECT_EQ(result.last, Eigen::VectorXd::Zero(kFeatures));
  }
}

TEST_F(TrainSoundTest, AsksForExactlyMaxStepsReleases) {
  options_.max_steps = 12;
  EndingRelease release(1000, absl::OkStatus());
  const TrainingResult result = Train(release);
  EXPECT_EQ(result.stop_reason, StopReason::kStepLimit);
  EXPECT_TRUE(result.release_status.ok());
  EXPECT_EQ(result.releases, 12);
  EXPECT_EQ(release.calls, 12);
}

// Records what training hands over.
class RecordingRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    sums.push_back(exact_sum);
    contributions.push_back(contribution);
    return inner_.Release(exact_sum, contribution);
  }
  std::vector<Eigen::VectorXd> sums;
  std::vector<double> contributions;

 private:
  SeededGaussianRelease inner_{3, 10};
};

TEST_F(TrainSoundTest, HandsOverTheSumAtTheIterateWithItsContribution) {
  options_.max_steps = 5;
  RecordingRelease release;
  std::vector<Eigen::VectorXd> iterates = {Eigen::VectorXd::Zero(kFeatures)};
  Train(release, [&](const StepReport& report) { iterates.push_back(report.theta); });
  ASSERT_EQ(release.sums.size(), 5u);
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(release.sums[step], loss_.GradientSum(iterates[step]));
    EXPECT_EQ(release.contributions[step], 1.0);
  }
}

// Releases the same vectors whatever the records are.
class ScriptedRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    Eigen::VectorXd vector(exact_sum.size());
    for (double& value : vector) value = normal_(generator_);
    return vector;
  }

 private:
  std::mt19937_64 generator_{5};
  std::normal_distribution<double> normal_;
};

TEST_F(TrainSoundTest, DependsOnTheRecordsThroughTheReleasedVectorsAlone) {
  // Post-processing as a test: equal released vectors on unequal records give equal everything.
  const SparseProblem other = MakeSparseProblem(
      {.record_count = 10, .feature_count = kFeatures, .entries_per_record = 3, .seed = 99});
  const LinearLoss other_loss = *LinearLoss::Create(LogisticMargin{}, other.rows, 1.0);
  options_.tolerance = 1e-3;
  std::vector<double> here;
  std::vector<double> there;
  const auto record_in = [](std::vector<double>* numbers) {
    return [numbers](const StepReport& report) {
      numbers->insert(numbers->end(), {report.step_size, report.released_gradient_norm,
                                       report.step_residual, report.theta.sum()});
    };
  };
  ScriptedRelease one;
  ScriptedRelease two;
  const TrainingResult first = *TrainSound(loss_, options_, one, record_in(&here));
  const TrainingResult second = *TrainSound(other_loss, options_, two, record_in(&there));
  EXPECT_EQ(here, there);
  EXPECT_EQ(first.last, second.last);
  EXPECT_EQ(first.averaged, second.averaged);
  EXPECT_EQ(first.support, second.support);
  EXPECT_EQ(first.releases, second.releases);
  EXPECT_EQ(first.stop_reason, second.stop_reason);
}

TEST_F(TrainSoundTest, ConvergesOnlyOnceTheWindowIsFull) {
  options_.tolerance = 1e9;
  options_.tolerance_window = 6;
  ExactRelease release;
  const TrainingResult result = Train(release);
  EXPECT_EQ(result.stop_reason, StopReason::kConverged);
  EXPECT_EQ(result.releases, 6);
}

TEST_F(TrainSoundTest, StartsWithTenOverLAndKeepsStepsInTheBounds) {
  SeededGaussianRelease release(1, 50);
  Train(release, [&](const StepReport& report) {
    if (report.step == 1) {
      EXPECT_EQ(report.step_size, 40);
    }
    EXPECT_GE(report.step_size, 1);
    EXPECT_LE(report.step_size, 400);
  });
}

TEST_F(TrainSoundTest, AveragesIteratesWithPolynomialDecay) {
  options_.max_steps = 3;
  std::vector<Eigen::VectorXd> iterates;
  SeededGaussianRelease release(1, 5);
  const TrainingResult result =
      Train(release, [&](const StepReport& report) { iterates.push_back(report.theta); });
  Eigen::VectorXd want = iterates[0];
  want += 4.0 / 5 * (iterates[1] - want);
  want += 4.0 / 6 * (iterates[2] - want);
  EXPECT_TRUE(result.averaged.isApprox(want, 1e-14));
}

TEST_F(TrainSoundTest, RefusesOptionsOutsideTheirDomainBeforeAnyRelease) {
  const TrainingOptions good = options_;
  std::vector<TrainingOptions> bad(14, good);
  bad[0].max_steps = 0;
  bad[1].public_record_count = 0;
  bad[2].tolerance = kNan;
  bad[3].tolerance = -1;
  bad[4].tolerance_window = 0;
  bad[5].initial = Eigen::VectorXd::Zero(kFeatures + 1);
  bad[6].initial = Eigen::VectorXd::Constant(kFeatures, kNan);
  bad[7].steps.first = 0;
  bad[8].steps.first = 1e9;  // outside the bounds
  bad[9].steps.rule = static_cast<StepRule>(17);
  bad[10].regularizer = L1Penalty{.lambda = -1};
  bad[11].batches.sampling_probability = 0;
  bad[12].batches.sampling_probability = 0.5;  // and nothing to draw with
  bad[13].batches.draw = [] { return Batch(); };
  for (size_t k = 0; k < bad.size(); ++k) {
    EndingRelease release(1000, absl::OkStatus());
    EXPECT_EQ(TrainSound(loss_, bad[k], release).status().code(),
              absl::StatusCode::kInvalidArgument)
        << k;
    EXPECT_EQ(release.calls, 0) << k;
  }
}

TEST_F(TrainSoundTest, GoesOnFromAStateAsIfItHadNotStopped) {
  options_.max_steps = 20;
  TrainingState after_eight;
  ExactRelease whole;
  const TrainingResult uninterrupted = Train(whole, [&](const StepReport& report) {
    if (report.step == 8) after_eight = report.state;
  });
  options_.resumed = after_eight;
  EndingRelease rest(1000, absl::OkStatus());
  const TrainingResult resumed = Train(rest);
  EXPECT_EQ(rest.calls, 12);
  EXPECT_EQ(resumed.releases, 12);
  EXPECT_EQ(resumed.steps, 20);
  EXPECT_EQ(resumed.last, uninterrupted.last);
  EXPECT_EQ(resumed.averaged, uninterrupted.averaged);
}

TEST_F(TrainSoundTest, RefusesAStateThatIsNotOne) {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(kFeatures);
  const TrainingState good{.step = 2,
                           .theta = zero,
                           .previous_theta = zero,
                           .previous_gradient = zero,
                           .averaged = zero,
                           .step_size = 1};
  std::vector<TrainingState> bad(4, good);
  bad[0].step = -1;
  bad[1].step_size = 0;
  bad[2].previous_gradient = Eigen::VectorXd::Zero(kFeatures + 1);
  bad[3].averaged[0] = kNan;
  for (const TrainingState& state : bad) {
    options_.resumed = state;
    ExactRelease release;
    EXPECT_EQ(TrainSound(loss_, options_, release).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(TrainSoundTest, DividesTheSumOfABatchByItsPublicExpectedSize) {
  const Batch batch = {3, 5};
  options_.max_steps = 1;
  options_.steps = {.rule = StepRule::kFixed, .first = 1, .bounds = {}};
  options_.regularizer = L2Penalty{0};
  options_.batches = {.sampling_probability = 0.25, .draw = [&] { return batch; }};
  ExactRelease release;
  const TrainingResult result = Train(release);
  const Eigen::VectorXd sum = loss_.GradientSum(Eigen::VectorXd::Zero(kFeatures), batch);
  EXPECT_TRUE(result.last.isApprox(-sum / (0.25 * kRecords), 1e-12));
}

TEST_F(TrainSoundTest, AveragesTheIteratesOfTheLastStepsUniformly) {
  options_.max_steps = 30;
  options_.average_last = 8;
  SeededGaussianRelease release(4, 20);
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(kFeatures);
  TrainingState after_25;
  const TrainingResult result = Train(release, [&](const StepReport& step) {
    if (step.step > 22) {
      sum += step.theta;
    } else {
      EXPECT_TRUE(step.state.averaged.isApprox(step.theta, 1e-12));
    }
    if (step.step == 25) after_25 = step.state;
  });
  EXPECT_TRUE(result.averaged.isApprox(sum / 8, 1e-12));
  // A run that goes on averages as the one that was not cut off.
  options_.resumed = after_25;
  ExactRelease exact;
  sum = after_25.averaged * 3;
  const TrainingResult resumed = Train(exact, [&](const StepReport& step) { sum += step.theta; });
  EXPECT_TRUE(resumed.averaged.isApprox(sum / 8, 1e-12));
  options_.average_last = 0;
  EXPECT_EQ(TrainSound(loss_, options_, exact).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TrainSoundTest, WithoutABatchTrainingEndsBeforeTheCharge) {
  options_.batches = {.sampling_probability = 0.25, .draw = []() -> absl::StatusOr<Batch> {
                        return absl::InternalError("no randomness");
                      }};
  EndingRelease release(1000, absl::OkStatus());
  const TrainingResult result = Train(release);
  EXPECT_EQ(result.stop_reason, StopReason::kReleaseFailed);
  EXPECT_EQ(release.calls, 0);
}

TEST(StopReasonName, NamesEveryReason) {
  EXPECT_EQ(StopReasonName(StopReason::kConverged), "converged");
  EXPECT_EQ(StopReasonName(StopReason::kStepLimit), "step limit");
  EXPECT_EQ(StopReasonName(StopReason::kRefused), "refused");
  EXPECT_EQ(StopReasonName(StopReason::kReleaseFailed), "release failed");
}

}  // namespace
}  // namespace epsledger::trainers::istdp
