#include "client/trainers/istdp/loop_audit.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/trainers/istdp/sound.h"

namespace epsledger::trainers::istdp {
namespace {

// Adds up what is released along the canary's gradient.
class ScoringRelease : public GradientRelease {
 public:
  ScoringRelease(GradientRelease& inner, Eigen::VectorXd direction)
      : inner_(inner), direction_(std::move(direction)) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    absl::StatusOr<Eigen::VectorXd> released = inner_.Release(exact_sum, 1);
    if (released.ok()) score_ += released->dot(direction_);
    return released;
  }

  double TakeScore() { return std::exchange(score_, 0.0); }

 private:
  GradientRelease& inner_;
  Eigen::VectorXd direction_;
  double score_ = 0;
};

}  // namespace

absl::StatusOr<TrialScores> SoundLoopScores(const LoopAuditOptions& options,
                                            GradientRelease& release) {
  if (options.trials < 1 || !(options.noise_multiplier > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("LoopAuditOptions: got trials ", options.trials, " and noise_multiplier ",
                     options.noise_multiplier, ", want trials >= 1 and noise_multiplier > 0"));
  }
  // At margin 0 the residual is 1/2: far beyond the clip norm with this record.
  LabeledRows canary;
  canary.features = Eigen::MatrixXd::Constant(1, 1, 8 * options.contribution).sparseView();
  canary.labels = Eigen::VectorXd::Zero(1);
  LabeledRows none;
  none.features.resize(0, 1);
  const absl::StatusOr<LinearLoss> with =
      LinearLoss::Create(LogisticMargin{}, canary, options.contribution);
  if (!with.ok()) return with.status();
  const absl::StatusOr<LinearLoss> without =
      LinearLoss::Create(LogisticMargin{}, none, options.contribution);
  if (!without.ok()) return without.status();

  TrainingOptions training;
  training.max_steps = options.steps;
  training.public_record_count = 1;
  training.steps = {.rule = StepRule::kFixed, .first = 1e-12, .bounds = {}};
  training.regularizer = L2Penalty{.lambda = 0};
  const double scale = options.noise_multiplier * options.contribution;
  ScoringRelease scoring(release, with->GradientSum(Eigen::VectorXd::Zero(1)) / (scale * scale));
  const auto scores = [&](const LinearLoss& loss) -> absl::StatusOr<std::vector<double>> {
    std::vector<double> arm;
    for (int trial = 0; trial < options.trials; ++trial) {
      const absl::StatusOr<TrainingResult> result = TrainSound(loss, training, scoring);
      if (!result.ok()) return result.status();
      if (!result->release_status.ok()) return result->release_status;
      arm.push_back(scoring.TakeScore());
    }
    return arm;
  };
  absl::StatusOr<std::vector<double>> without_record = scores(*without);
  if (!without_record.ok()) return without_record.status();
  absl::StatusOr<std::vector<double>> with_record = scores(*with);
  if (!with_record.ok()) return with_record.status();
  return TrialScores{*std::move(without_record), *std::move(with_record)};
}

}  // namespace epsledger::trainers::istdp
