#include "client/trainers/istdp/loop_audit.h"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/sound.h"
#include "client/trainers/run/transcript_score.h"

namespace epsledger::trainers::istdp {
namespace {

// Small enough that in every run the canary stays clipped, large enough that losses distinguish
// candidates.
constexpr double kStep = 1e-9;

// The gradients of the two arms.
struct ArmGradients {
  Eigen::VectorXd canary;
  // That of the record in the place of the canary; empty: there is none.
  Eigen::VectorXd other;
};

// Scores each released gradient against the gradients of the arms.
class ScoringGradients : public GradientRelease {
 public:
  ScoringGradients(GradientRelease& inner, const ArmGradients& arms, double deviation,
                   TranscriptScore& score)
      : inner_(inner), arms_(arms), deviation_(deviation), score_(score) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum, double) override {
    absl::StatusOr<Eigen::VectorXd> released = inner_.Release(exact_sum, 1);
    if (!released.ok()) return released;
    if (arms_.other.size() > 0) {
      score_.AddReplaced(*released, arms_.canary, arms_.other, deviation_);
    } else {
      score_.Add(*released, arms_.canary, deviation_);
    }
    last_ = *released;
    return released;
  }

  const Eigen::VectorXd& last() const { return last_; }

 private:
  GradientRelease& inner_;
  const ArmGradients& arms_;
  double deviation_;
  TranscriptScore& score_;
  Eigen::VectorXd last_;
};

// The same for comparisons, with the candidates from the last released gradient.
class ScoringComparisons : public GradientRelease {
 public:
  ScoringComparisons(GradientRelease& inner, const ScoringGradients& gradients, double multiplier,
                     TranscriptScore& score)
      : inner_(inner), gradients_(gradients), multiplier_(multiplier), score_(score) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    absl::StatusOr<Eigen::VectorXd> released = inner_.Release(exact_sum, contribution);
    if (!released.ok()) return released;
    // Candidates are against the released gradient; the canary's gradient is positive.
    const double change = gradients_.last()[0] > 0 ? -1 : 1;
    score_.Add(*released, Eigen::VectorXd::Constant(exact_sum.size(), change),
               multiplier_ * contribution);
    return released;
  }

 private:
  GradientRelease& inner_;
  const ScoringGradients& gradients_;
  double multiplier_;
  TranscriptScore& score_;
};

// The record whose gradient has norm `contribution` and the given direction, or the opposite one.
// At margin 0 the residual is 1/2 or -1/2, so this record's gradient is far above the clip norm.
absl::StatusOr<LinearLoss> Canary(const LoopAuditOptions& options, bool opposite) {
  LabeledRows rows;
  const Eigen::RowVectorXd features =
      8 * options.contribution * options.direction.normalized().transpose();
  rows.features = features.sparseView();
  rows.labels = Eigen::VectorXd::Constant(1, opposite ? 1 : 0);
  return LinearLoss::Create(LogisticMargin{}, std::move(rows), options.contribution);
}

absl::StatusOr<LinearLoss> NoRecord(const LoopAuditOptions& options) {
  LabeledRows rows;
  rows.features.resize(0, options.direction.size());
  return LinearLoss::Create(LogisticMargin{}, std::move(rows), options.contribution);
}

// Trains on some records and scores the run against the gradients of the arms.
using Run = std::function<absl::StatusOr<TrainingResult>(
    const LinearLoss& loss, const TrainingOptions& training, const ArmGradients& arms,
    TranscriptScore& score)>;

absl::StatusOr<TrialScores> ScoresOf(const LoopAuditOptions& options, const Run& run) {
  if (options.trials < 1 || !(options.noise_multiplier > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("LoopAuditOptions: got trials ", options.trials, " and noise_multiplier ",
                     options.noise_multiplier, ", want trials >= 1 and noise_multiplier > 0"));
  }
  if (!(options.direction.norm() > 0) || !options.direction.allFinite()) {
    return absl::InvalidArgumentError("LoopAuditOptions.direction: want finite numbers, not all 0");
  }
  ASSIGN_OR_RETURN(const LinearLoss with, Canary(options, false));
  ASSIGN_OR_RETURN(const LinearLoss without,
                   options.replaced ? Canary(options, true) : NoRecord(options));

  TrainingOptions training;
  training.max_steps = options.steps;
  training.public_record_count = 1;
  training.batches = options.batches;
  training.steps = {.rule = StepRule::kFixed, .first = kStep, .bounds = {}};
  training.regularizer = L2Penalty{.lambda = 0};
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(options.direction.size());
  ArmGradients arms{.canary = with.GradientSum(start), .other = {}};
  if (options.replaced) arms.other = without.GradientSum(start);
  const auto scores = [&](const LinearLoss& loss) -> absl::StatusOr<std::vector<double>> {
    TrainingOptions of_arm = training;
    if (loss.record_count() == 0 && training.batches.draw != nullptr) {
      of_arm.batches.draw = [] { return Batch(); };
    }
    std::vector<double> arm;
    for (int trial = 0; trial < options.trials; ++trial) {
      TranscriptScore score(options.batches.sampling_probability);
      ASSIGN_OR_RETURN(const TrainingResult result, run(loss, of_arm, arms, score));
      if (!result.release_status.ok()) return result.release_status;
      arm.push_back(score.sum());
    }
    return arm;
  };
  ASSIGN_OR_RETURN(std::vector<double> without_record, scores(without));
  ASSIGN_OR_RETURN(std::vector<double> with_record, scores(with));
  return TrialScores{std::move(without_record), std::move(with_record)};
}

}  // namespace

absl::StatusOr<TrialScores> SoundLoopScores(const LoopAuditOptions& options,
                                            GradientRelease& release) {
  return ScoresOf(options, [&](const LinearLoss& loss, const TrainingOptions& training,
                               const ArmGradients& arms, TranscriptScore& score) {
    ScoringGradients scoring(release, arms, options.noise_multiplier * options.contribution, score);
    return TrainSound(loss, training, scoring);
  });
}

absl::StatusOr<TrialScores> SoundLineSearchLoopScores(const LoopAuditOptions& options,
                                                      const LineSearchOptions& line_search,
                                                      const LineSearchNoise& noise,
                                                      GradientRelease& gradients,
                                                      GradientRelease& comparisons) {
  if (options.direction.size() != 1 || !(options.direction[0] > 0)) {
    return absl::InvalidArgumentError(
        "LoopAuditOptions.direction: want one positive number with a line search");
  }
  return ScoresOf(options, [&](const LinearLoss& loss, const TrainingOptions& training,
                               const ArmGradients& arms, TranscriptScore& score) {
    ScoringGradients scoring(gradients, arms, noise.gradient * options.contribution, score);
    ScoringComparisons comparing(comparisons, scoring, noise.comparison, score);
    return TrainSoundLineSearch(loss, training, line_search, scoring, comparing);
  });
}

}  // namespace epsledger::trainers::istdp
