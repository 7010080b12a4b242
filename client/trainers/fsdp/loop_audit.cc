#include "client/trainers/fsdp/loop_audit.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/run/transcript_score.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Network;

absl::StatusOr<StepView> CanaryView(const LoopAuditOptions& options) {
  StepView view{.geometry = options.geometry, .embedding_clip = 0.01, .residual_clip = 0.01};
  view.layers.push_back({.subspace = options.subspace, .column_scales = options.column_scales});
  NoiseSplitOptions split{.embedding_fraction = options.embedding_fraction};
  if (options.indicators) {
    split.indicator_count = options.geometry == ClipGeometry::kSeparate ? 2 : 1;
    split.indicator_noise = options.indicator_noise * options.noise_multiplier;
  }
  ASSIGN_OR_RETURN(const NoiseShares shares, SplitNoise(split, options.noise_multiplier));
  view.shares = shares;
  return view;
}

// One column: the canary or the opposite record.
LabeledColumns Record(float input) { return {network::Matrix<float>::Constant(1, 1, input), {0}}; }

absl::Status CheckDomains(const LoopAuditOptions& options) {
  if (options.steps < 1 || options.trials < 0) {
    return absl::InvalidArgumentError(absl::StrCat("steps, trials: got ", options.steps, ", ",
                                                   options.trials, ", want >= 1, >= 0"));
  }
  const double q = options.sampling_probability;
  if (!(q > 0 && q <= 1) || (q < 1) != (options.batches != nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sampling_probability: got ", q, options.batches ? " with" : " without",
                     " batches, want 1 without or one in (0, 1) with them"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ArmScores> StepScores(const LoopAuditOptions& options, GradientRelease& release) {
  RETURN_IF_ERROR(CheckDomains(options));
  ASSIGN_OR_RETURN(const StepView view, CanaryView(options));
  ASSIGN_OR_RETURN(Network<float> network,
                   Network<float>::Create({.channels = 1},
                                          {network::FullyConnected{.outputs = kAuditedOutputs}}));
  const LabeledColumns canary = Record(1000);
  const LabeledColumns opposite = Record(-1000);
  ASSIGN_OR_RETURN(const Eigen::VectorXd contribution, ClippedSum(network, view, canary, {0}));
  ASSIGN_OR_RETURN(const Eigen::VectorXd other, ClippedSum(network, view, opposite, {0}));
  ArmScores scores;
  for (int trial = 0; trial < options.trials; ++trial) {
    for (const bool present : {false, true}) {
      TranscriptScore score(options.sampling_probability);
      for (int step = 0; step < options.steps; ++step) {
        std::vector<int> batch;
        if (present || options.replaced) batch = {0};
        if (!batch.empty() && options.batches != nullptr) {
          ASSIGN_OR_RETURN(std::vector<int> drawn, options.batches());
          batch = std::move(drawn);
        }
        ASSIGN_OR_RETURN(const Eigen::VectorXd sum,
                         ClippedSum(network, view, present ? canary : opposite, batch));
        ASSIGN_OR_RETURN(const Eigen::VectorXd released, release.Release(sum, 1));
        if (options.replaced) {
          score.AddReplaced(released, contribution, other, options.noise_multiplier);
        } else {
          score.Add(released, contribution, options.noise_multiplier);
        }
      }
      (present ? scores.with_canary : scores.without_canary).push_back(score.sum());
    }
  }
  return scores;
}

}  // namespace epsledger::trainers::fsdp
