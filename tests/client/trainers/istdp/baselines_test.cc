#include "client/trainers/istdp/baselines.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "client/trainers/istdp/sparse_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kRecords = 400;
constexpr int kFeatures = 20;

class BaselinesTest : public testing::Test {
 protected:
  BaselinesTest()
      : problem_(MakeSparseProblem({.record_count = kRecords, .feature_count = kFeatures})) {}

  LinearLoss Loss(const LabeledRows& rows, double contribution = 1) const {
    return *LinearLoss::Create(LogisticMargin{}, rows, contribution);
  }

  // Noise that comes from nowhere: fixed draws, charged as often as asked for.
  std::function<absl::StatusOr<Eigen::VectorXd>()> Noise(double size) {
    return [this, size]() -> absl::StatusOr<Eigen::VectorXd> {
      ++draws_;
      return Eigen::VectorXd::Constant(2 * kFeatures, size).eval();
    };
  }

  SparseProblem problem_;
  PerturbationOptions options_{.l2 = 0.01, .public_record_count = kRecords};
  int draws_ = 0;
};

TEST_F(BaselinesTest, OutputPerturbationReleasesTheMinimizerOnce) {
  const LinearLoss loss = Loss(problem_.rows);
  EndingRelease release(10, absl::OkStatus());
  const auto result = TrainOutputPerturbation(loss, options_, release);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(release.calls, 1);
  EXPECT_EQ(result->releases, 1);
  const Eigen::VectorXd gradient =
      loss.GradientSum(result->last) / kRecords + options_.l2 * result->last;
  EXPECT_LE(gradient.norm(), GradientTolerance(loss, options_));
  EXPECT_LE(GradientTolerance(loss, options_), 1e-9);
}

TEST_F(BaselinesTest, AMinimizationEndsForEveryScale) {
  for (const double scale : {1e-3, 1e3, 1e6}) {
    LabeledRows rows = problem_.rows;
    rows.features *= scale;
    for (const double contribution : {scale / 10, scale}) {
      options_.row_norm_bound = scale;
      options_.l2 = scale * scale / 100;
      ExactRelease exact;
      const auto result = TrainOutputPerturbation(Loss(rows, contribution), options_, exact);
      ASSERT_TRUE(result.ok()) << scale << ": " << result.status();
      EXPECT_GT(result->last.norm(), 0);
    }
  }
}

// The margins of long coefficients are wrong by more than the grid: the bound says so, and an l2
// for which it says nothing is refused.
TEST_F(BaselinesTest, TheRoundingOfMarginsIsCounted) {
  const LinearLoss loss = Loss(problem_.rows, 1.000002);
  options_.row_norm_bound = 1;
  options_.l2 = 1e-2;
  const double usual = GradientRounding(loss, options_);
  EXPECT_NEAR(usual, 6e-11 * std::sqrt(kFeatures), 1e-12);
  options_.l2 = 1e-9;
  // b = 21 / 2 * 2^-52; 2 C b / l2.
  EXPECT_NEAR(GradientRounding(loss, options_) - usual, 2 * 10.5 * 0x1p-52 / 1e-9, 2e-8);
  EXPECT_GT(GradientRounding(loss, options_, 1), 1.4 * GradientRounding(loss, options_));
  options_.l2 = 1e-15;
  EXPECT_EQ(GradientRounding(loss, options_), std::numeric_limits<double>::infinity());
  EndingRelease release(10, absl::OkStatus());
  const absl::Status refused = TrainOutputPerturbation(loss, options_, release).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("PerturbationOptions.l2: got 1e-15"), std::string::npos);
  EXPECT_EQ(release.calls, 0);
}

TEST_F(BaselinesTest, MoreThanTwiceThePublicCountOfRecordsIsRefusedBeforeAnythingIsCharged) {
  const LinearLoss loss = Loss(problem_.rows, 1.000002);
  EndingRelease release(10, absl::OkStatus());
  options_.public_record_count = kRecords / 2;
  EXPECT_TRUE(TrainOutputPerturbation(loss, options_, release).ok());
  EXPECT_TRUE(TrainObjectivePerturbation(loss, options_, {}, Noise(0)).ok());
  options_.public_record_count = kRecords / 2 - 1;
  EXPECT_EQ(TrainOutputPerturbation(loss, options_, release).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(TrainObjectivePerturbation(loss, options_, {}, Noise(0)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(release.calls, 1);
  EXPECT_EQ(draws_, 1);
}

TEST_F(BaselinesTest, MinimizersOfNeighborsAreNoFurtherApartThanTheContribution) {
  const LinearLoss loss = Loss(problem_.rows);
  ExactRelease exact;
  double largest = 0;
  for (const double l2 : {0.001, 0.1}) {
    options_.l2 = l2;
    const Eigen::VectorXd all = TrainOutputPerturbation(loss, options_, exact)->last;
    const double bound = MinimizerContribution(loss, options_);
    for (int missing = 0; missing < kRecords; missing += 23) {
      std::vector<int> others;
      for (int row = 0; row < kRecords; ++row) {
        if (row != missing) others.push_back(row);
      }
      const LinearLoss without = Loss(SelectRows(problem_.rows, others));
      const double distance =
          (TrainOutputPerturbation(without, options_, exact)->last - all).norm();
      EXPECT_LE(distance, bound);
      largest = std::max(largest, distance / bound);
    }
  }
  EXPECT_GT(largest, 0.1);  // a bound that is not met by a factor of a million is no bound
}

TEST_F(BaselinesTest, TheContributionCountsTheToleranceAndTheRounding) {
  const LinearLoss loss = Loss(problem_.rows, 2);
  EXPECT_NEAR(MinimizerContribution(loss, options_) * options_.l2 /
                  (2.0 / kRecords + 6 * GradientRounding(loss, options_)),
              1 + 1e-6, 1e-9);
}

TEST_F(BaselinesTest, NoiseBeyondItsTailIsNoReleaseAndIsCharged) {
  const LinearLoss loss = Loss(problem_.rows, 1.000002);
  const double longest = (std::sqrt(kFeatures) + 10) / std::sqrt(kFeatures);
  EXPECT_TRUE(TrainObjectivePerturbation(loss, options_, {}, Noise(0.999 * longest)).ok());
  EXPECT_EQ(TrainObjectivePerturbation(loss, options_, {}, Noise(1.001 * longest)).status().code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(draws_, 2);
}

TEST_F(BaselinesTest, ObjectivePerturbationChargesOnceAndStopsAtARefusal) {
  const LinearLoss loss = Loss(problem_.rows, 1.000002);
  const auto result = TrainObjectivePerturbation(loss, options_, {}, Noise(0));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(result->releases, 1);
  const auto refused =
      TrainObjectivePerturbation(loss, options_, {}, []() -> absl::StatusOr<Eigen::VectorXd> {
        return absl::FailedPreconditionError("BUDGET_EXHAUSTED");
      });
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->stop_reason, StopReason::kRefused);
  EXPECT_EQ(refused->releases, 0);
  EXPECT_EQ(refused->last, Eigen::VectorXd::Zero(kFeatures));
}

TEST_F(BaselinesTest, ObjectivePerturbationNoiseMeetsItsTargetAndNotMuchMore) {
  const LinearLoss loss = Loss(problem_.rows, 1.000002);
  const ObjectivePerturbationTarget target{.epsilon = 1, .delta = 1e-5};
  const absl::StatusOr<double> noise = ObjectivePerturbationNoise(loss, options_, target);
  ASSERT_TRUE(noise.ok()) << noise.status();
  // P[(G/s)|Z| > epsilon - blur - log det ratio - (G/s)^2 / 2], by itself.
  const auto delta = [&](double s) {
    const double ratio = loss.contribution() / s;
    const double determinant = std::log(1 + 0.25 * 1.000002 * 1.000002 / (kRecords * 0.01));
    return std::erfc((1 - 0.0085 - determinant - ratio * ratio / 2) / ratio / std::sqrt(2));
  };
  EXPECT_LE(delta(*noise), 1e-5);
  EXPECT_GT(delta(*noise * 0.9999), 0.999e-5);
}

// The privacy loss of the exact mechanism on one dimension, where the density is explicit: noise b
// makes theta a minimizer iff b = -(sum of losses)'(theta) - n0 l2 theta, so the density of theta
// is phi_s(b(theta)) times the second derivative. delta(epsilon) by quadrature, both directions.
TEST_F(BaselinesTest, ObjectivePerturbationIsPrivateByQuadratureInOneDimension) {
  const double l2 = 0.02;
  const int records = 50;
  const auto make = [&](int count) {
    LabeledRows rows;
    rows.features = Eigen::MatrixXd::Ones(count, 1).sparseView();
    rows.labels = Eigen::VectorXd::Zero(count);
    for (int k = 0; k < count / 2; ++k) rows.labels[k] = 1;
    return rows;
  };
  const LinearLoss loss = Loss(make(records), 1.000002);
  const ObjectivePerturbationTarget target{.epsilon = 1, .delta = 1e-3};
  const double s =
      *ObjectivePerturbationNoise(loss, {.l2 = l2, .public_record_count = records}, target);
  const auto density = [&](double ones, double zeros, double theta) {
    const double p = 1 / (1 + std::exp(-theta));
    const double b = -(ones * (p - 1) + zeros * p) - records * l2 * theta;
    return std::exp(-b * b / (2 * s * s)) / (s * std::sqrt(2 * M_PI)) *
           ((ones + zeros) * p * (1 - p) + records * l2);
  };
  double with_over_without = 0;
  double without_over_with = 0;
  double mass = 0;
  constexpr double kWidth = 1e-3;
  for (double theta = -60; theta <= 60; theta += kWidth) {
    const double with = density(26, 25, theta);
    const double without = density(25, 25, theta);
    mass += without * kWidth;
    with_over_without += std::max(0.0, with - std::exp(1.0) * without) * kWidth;
    without_over_with += std::max(0.0, without - std::exp(1.0) * with) * kWidth;
  }
  EXPECT_NEAR(mass, 1, 1e-6);
  EXPECT_LE(with_over_without, 1e-3);
  EXPECT_LE(without_over_with, 1e-3);
}

TEST_F(BaselinesTest, RefuseWhatTheirProofsDoNotCover) {
  const LinearLoss clipped = Loss(problem_.rows, 0.5);
  EXPECT_EQ(TrainObjectivePerturbation(clipped, options_, {}, Noise(0)).status().code(),
            absl::StatusCode::kInvalidArgument);
  const LinearLoss squared = *LinearLoss::Create(SquaredMargin{}, problem_.rows, 2);
  EXPECT_EQ(TrainObjectivePerturbation(squared, options_, {}, Noise(0)).status().code(),
            absl::StatusCode::kInvalidArgument);
  const LinearLoss loss = Loss(problem_.rows, 1.000002);
  for (const ObjectivePerturbationTarget& target :
       {ObjectivePerturbationTarget{.epsilon = 0.01}, ObjectivePerturbationTarget{.delta = 0},
        ObjectivePerturbationTarget{.epsilon = std::nan("")}}) {
    EXPECT_EQ(TrainObjectivePerturbation(loss, options_, target, Noise(0)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(draws_, 0);
  EndingRelease release(10, absl::OkStatus());
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    PerturbationOptions options = options_;
    options.l2 = bad;
    EXPECT_EQ(TrainOutputPerturbation(loss, options, release).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(release.calls, 0);
}

TEST_F(BaselinesTest, DpSgdIsPoissonBatchesFixedStepsAndNoPenalty) {
  const LinearLoss loss = Loss(problem_.rows);
  TrainingOptions options;
  options.public_record_count = kRecords;
  options.max_steps = 5;
  options.steps = {.rule = StepRule::kFixed, .first = 2, .bounds = {}};
  options.regularizer = L2Penalty{0};
  options.batches = {.sampling_probability = 0.1, .draw = [] { return Batch{1, 2}; }};
  EndingRelease release(100, absl::OkStatus());
  EXPECT_EQ(TrainDpSgd(loss, options, release)->releases, 5);
  TrainingOptions bad = options;
  bad.batches = {};
  EXPECT_EQ(TrainDpSgd(loss, bad, release).status().code(), absl::StatusCode::kInvalidArgument);
  bad = options;
  bad.regularizer = L1Penalty{0.1};
  EXPECT_EQ(TrainDpSgd(loss, bad, release).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(release.calls, 5);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
