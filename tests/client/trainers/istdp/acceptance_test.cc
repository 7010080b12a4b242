// Floors that a training run must reach with the noise of a stated guarantee. The noise is seeded,
// so a run gives one number for ever; floors are below the mean over seeds by more than its spread.

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "client/trainers/data/data_source.h"
#include "client/trainers/istdp/backtracking.h"
#include "client/trainers/istdp/evaluation.h"
#include "client/trainers/istdp/sound.h"
#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

// mu of the Gaussian mechanism that is exactly (1, 1e-5)-DP: delta(epsilon) =
// Phi(-epsilon / mu + mu / 2) - exp(epsilon) Phi(-epsilon / mu - mu / 2).
constexpr double kMuAtEpsilonOne = 0.2680511232;

// The noise multiplier of each of `steps` releases that are (1, 1e-5)-DP together.
double NoiseMultiplier(int steps) { return std::sqrt(steps) / kMuAtEpsilonOne; }

double SupportF1(const std::vector<int>& support, const Eigen::VectorXd& truth) {
  const auto right = std::count_if(support.begin(), support.end(),
                                   [&](int coordinate) { return truth[coordinate] != 0; });
  const auto wanted = (truth.array() != 0).count();
  return 2.0 * static_cast<double>(right) / static_cast<double>(support.size() + wanted);
}

class SparseAcceptance : public testing::Test {
 protected:
  SparseAcceptance()
      : problem_(MakeSparseProblem({})),
        loss_(*LinearLoss::Create(LogisticMargin{}, problem_.rows, 1.0)) {
    options_.public_record_count = 20000;
    options_.steps = BarzilaiBorweinSteps(LipschitzConstant(LogisticMargin{}, 1));
  }

  double TrainingObjective(const Eigen::VectorXd& theta) const {
    return Objective({problem_.rows}, LogisticMargin{}, options_.regularizer, theta);
  }

  SparseProblem problem_;
  LinearLoss loss_;
  TrainingOptions options_;
};

TEST_F(SparseAcceptance, AtEpsilonOneFindsTheSupportAndASmallGap) {
  options_.regularizer = McpPenalty{.lambda = 0.002, .shape = 1500};
  options_.max_steps = 1000;
  options_.tolerance = 1e-8;
  ExactRelease exact;
  const TrainingResult optimum = *TrainSound(loss_, options_, exact);
  ASSERT_EQ(optimum.stop_reason, StopReason::kConverged);
  ASSERT_EQ(SupportF1(optimum.support, problem_.truth), 1);

  constexpr int kSeeds = 16;
  options_.tolerance = 0;
  options_.max_steps = 10;
  double f1 = 0;
  double gap = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SeededGaussianRelease release(seed, NoiseMultiplier(options_.max_steps));
    const TrainingResult result = *TrainSound(loss_, options_, release);
    EXPECT_EQ(result.releases, 10);
    f1 += SupportF1(result.support, problem_.truth) / kSeeds;
    gap += (TrainingObjective(result.last) - TrainingObjective(optimum.last)) / kSeeds;
  }
  RecordProperty("f1", std::to_string(f1));
  RecordProperty("gap", std::to_string(gap));
  EXPECT_GE(f1, 0.95);
  EXPECT_LE(gap, 0.01);
}

TEST_F(SparseAcceptance, TheUniversalThresholdFindsTheSupportWithoutTuning) {
  constexpr int kSeeds = 16;
  options_.max_steps = 20;
  const double noise_multiplier = NoiseMultiplier(options_.max_steps);
  options_.regularizer = UniversalThresholdMcp(
      noise_multiplier * loss_.contribution() / static_cast<double>(options_.public_record_count),
      100);
  double f1 = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SeededGaussianRelease release(seed, noise_multiplier);
    f1 += SupportF1(TrainSound(loss_, options_, release)->support, problem_.truth) / kSeeds;
  }
  RecordProperty("f1", std::to_string(f1));
  EXPECT_GE(f1, 0.95);
}

// Steps at most gamma_bar < 1/L move too little in a few steps: data-free back-tracking costs
// nothing in privacy and nearly all of the accuracy of Barzilai-Borwein steps.
TEST_F(SparseAcceptance, DataFreeBackTrackingIsFarBehindBarzilaiBorweinSteps) {
  options_.regularizer = McpPenalty{.lambda = 0.002, .shape = 1500};
  options_.max_steps = 1000;
  options_.tolerance = 1e-8;
  ExactRelease exact;
  const double optimum = TrainingObjective(TrainSound(loss_, options_, exact)->last);
  options_.tolerance = 0;
  options_.max_steps = 30;
  double sound_gap = 0;
  double backtracked_gap = 0;
  int kept = 0;
  int steps = 0;
  constexpr int kSeeds = 4;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SeededGaussianRelease one(seed, NoiseMultiplier(options_.max_steps));
    SeededGaussianRelease other(seed, NoiseMultiplier(options_.max_steps));
    sound_gap += (TrainingObjective(TrainSound(loss_, options_, one)->last) - optimum) / kSeeds;
    const TrainingResult backtracked = *TrainBacktracking(
        loss_, options_, {.lipschitz_constant = 0.25}, other, [&](const StepReport& report) {
          ++steps;
          kept += report.backtracks == 0;
        });
    backtracked_gap += (TrainingObjective(backtracked.last) - optimum) / kSeeds;
  }
  RecordProperty("sound_gap", std::to_string(sound_gap));
  RecordProperty("backtracked_gap", std::to_string(backtracked_gap));
  RecordProperty("share_of_steps_kept", std::to_string(static_cast<double>(kept) / steps));
  EXPECT_GT(backtracked_gap, 10 * sound_gap);
}

class A9aAcceptance : public testing::Test {
 protected:
  void SetUp() override {
    const char* const variable = std::getenv("EPSLEDGER_DATA_DIR");
    DataPlaces places;
    places.data_directory =
        variable != nullptr ? variable : std::string(EPSLEDGER_SOURCE_DIR) + "/../shared/data";
    DataRequest request;
    request.name = "a9a";
    absl::StatusOr<LocatedData> data = FindData(request, places);
    if (absl::IsNotFound(data.status())) {
      GTEST_SKIP() << "no a9a: set EPSLEDGER_DATA_DIR to a directory with a9a and a9a.t";
    }
    ASSERT_TRUE(data.ok()) << data.status();
    train_ = WithBiasColumn(data->train);
    held_out_.rows = WithBiasColumn(data->held_out.rows);
    ASSERT_TRUE(ClipRowNorms(1, &train_).ok());
    ASSERT_TRUE(ClipRowNorms(1, &held_out_.rows).ok());
    ASSERT_EQ(held_out_.rows.labels.size(), 16281);
    options_.public_record_count = 32561;
    options_.steps = BarzilaiBorweinSteps(LipschitzConstant(LogisticMargin{}, 1));
    options_.regularizer = McpPenalty{.lambda = 5e-4, .shape = 2000};
  }

  LabeledRows train_;
  HeldOutRows held_out_;
  TrainingOptions options_;
};

TEST_F(A9aAcceptance, AtEpsilonOneReachesTheFloorOfAccuracy) {
  const LinearLoss loss = *LinearLoss::Create(LogisticMargin{}, train_, 1.0);
  constexpr int kSeeds = 4;
  options_.max_steps = 100;
  double accuracy = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SeededGaussianRelease release(seed, NoiseMultiplier(options_.max_steps));
    const TrainingResult result = *TrainSound(loss, options_, release);
    EXPECT_EQ(result.releases, 100);
    accuracy += Accuracy(held_out_, result.last) / kSeeds;
  }
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_GE(accuracy, 0.845);
}

TEST_F(A9aAcceptance, WithoutNoiseReachesTheAccuracyOfTheOptimum) {
  const LinearLoss loss = *LinearLoss::Create(LogisticMargin{}, train_, 1.0);
  options_.max_steps = 300;
  ExactRelease exact;
  const TrainingResult result = *TrainSound(loss, options_, exact);
  EXPECT_GE(Accuracy(held_out_, result.last), 0.8495);
  EXPECT_LE(Objective({train_}, LogisticMargin{}, options_.regularizer, result.last), 0.3365);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
