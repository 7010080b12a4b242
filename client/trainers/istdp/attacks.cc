#include "client/trainers/istdp/attacks.h"

#include <cmath>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/as_published.h"

namespace epsledger::trainers::istdp {
namespace {

absl::Status NothingToCharge() { return absl::OkStatus(); }

// Returns records that are unit vectors, all of class 0.
LabeledRows UnitRows(const std::vector<int>& coordinates, int feature_count) {
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t row = 0; row < coordinates.size(); ++row) {
    entries.emplace_back(static_cast<int>(row), coordinates[row], 1.0);
  }
  LabeledRows rows;
  rows.features.resize(static_cast<Eigen::Index>(coordinates.size()), feature_count);
  rows.features.setFromTriplets(entries.begin(), entries.end());
  rows.features.makeCompressed();
  rows.labels = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(coordinates.size()));
  return rows;
}

// Runs one step for each trial on one data set and scores the resulting iterate.
absl::StatusOr<std::vector<double>> Scores(
    const LabeledRows& rows, const AsPublishedOptions& options, int trials,
    GradientRelease& release, const std::function<double(const Eigen::VectorXd&)>& score) {
  ASSIGN_OR_RETURN(const LinearLoss loss, LinearLoss::Create(LogisticMargin{}, rows, 1));
  std::vector<double> scores;
  for (int trial = 0; trial < trials; ++trial) {
    ASSIGN_OR_RETURN(const TrainingResult result,
                     TrainAsPublished(loss, options, NothingToCharge, release));
    if (!result.release_status.ok()) return result.release_status;
    scores.push_back(score(result.last));
  }
  return scores;
}

absl::StatusOr<TrialScores> Attack(const LabeledRows& without, const LabeledRows& with,
                                   const AsPublishedOptions& options, const AttackOptions& attack,
                                   GradientRelease& release,
                                   const std::function<double(const Eigen::VectorXd&)>& score) {
  if (attack.trials < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("AttackOptions.trials: got ", attack.trials, ", want >= 1"));
  }
  ASSIGN_OR_RETURN(std::vector<double> without_record,
                   Scores(without, options, attack.trials, release, score));
  ASSIGN_OR_RETURN(std::vector<double> with_record,
                   Scores(with, options, attack.trials, release, score));
  return TrialScores{std::move(without_record), std::move(with_record)};
}

// One published step from zero, without penalty.
AsPublishedOptions OneStep(int public_record_count, int feature_count) {
  AsPublishedOptions options;
  options.training.max_steps = 1;
  options.training.public_record_count = public_record_count;
  options.training.steps = BarzilaiBorweinSteps(LipschitzConstant(LogisticMargin{}, 1));
  options.training.regularizer = L2Penalty{.lambda = 0};
  options.before_initial = Eigen::VectorXd::Unit(feature_count, 0) * -0.1;
  return options;
}

}  // namespace

absl::StatusOr<TrialScores> StepSizeAttack(const AttackOptions& options, GradientRelease& release) {
  constexpr int kFeatures = 100;
  constexpr int kOthers = 24;
  ASSIGN_OR_RETURN(const PublishedCalibration calibration, CalibrateAsPublished(options.claim));
  std::vector<int> coordinates;
  for (int k = 0; k < kOthers; ++k) coordinates.push_back(1 + k);
  const LabeledRows without = UnitRows(coordinates, kFeatures);
  coordinates.push_back(0);
  const LabeledRows with = UnitRows(coordinates, kFeatures);
  AsPublishedOptions published = OneStep(kOthers + 1, kFeatures);
  published.line_search.max_backtracks = 0;

  const double largest = published.training.steps.bounds.largest;
  // ||d_theta||^2 / (d_theta . d_gradient) for the one record along d_theta = 0.1.
  const double smaller = (kOthers + 1) * 0.1 / (0.5 - 1 / (1 + std::exp(0.1)));
  const double noise = calibration.noise_multiplier / (kOthers + 1) * std::sqrt(kFeatures);
  const double middle = std::sqrt(largest * smaller);
  return Attack(without, with, published, options, release, [=](const Eigen::VectorXd& theta) {
    return -std::log(theta.norm() / noise / middle);
  });
}

absl::StatusOr<TrialScores> LineSearchAttack(const AttackOptions& options,
                                             GradientRelease& release) {
  constexpr int kPublicCount = 100;
  constexpr int kBacktracks = 60;
  // After all halvings of the largest step, the noise cannot move the iterate this far.
  constexpr double kAccepted = 1e-6;
  AsPublishedOptions published = OneStep(kPublicCount, 1);
  published.line_search.max_backtracks = kBacktracks;
  return Attack(UnitRows({}, 1), UnitRows({0}, 1), published, options, release,
                [](const Eigen::VectorXd& theta) { return theta.norm() > kAccepted ? 1.0 : 0.0; });
}

}  // namespace epsledger::trainers::istdp
