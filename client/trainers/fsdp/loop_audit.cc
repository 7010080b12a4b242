#include "client/trainers/fsdp/loop_audit.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/trainers/fsdp/subspace.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Network;

constexpr int kOutputs = 3;
constexpr double kIndicatorNoiseInMultipliers = 5;

absl::StatusOr<StepView> CanaryView(const LoopAuditOptions& options) {
  StepView view{.geometry = options.geometry, .embedding_clip = 0.01, .residual_clip = 0.01};
  view.layers.push_back({.subspace = RandomSubspace(1, kOutputs, 1)});
  NoiseSplitOptions split{.embedding_fraction = 0.7};
  if (options.indicators) {
    split.indicator_count = options.geometry == ClipGeometry::kSeparate ? 2 : 1;
    split.indicator_noise = kIndicatorNoiseInMultipliers * options.noise_multiplier;
  }
  const absl::StatusOr<NoiseShares> shares = SplitNoise(split, options.noise_multiplier);
  if (!shares.ok()) return shares.status();
  view.shares = *shares;
  return view;
}

}  // namespace

absl::StatusOr<ArmScores> StepScores(const LoopAuditOptions& options, GradientRelease& release) {
  if (options.steps < 1 || options.trials < 0) {
    return absl::InvalidArgumentError(absl::StrCat("steps, trials: got ", options.steps, ", ",
                                                   options.trials, ", want >= 1, >= 0"));
  }
  const absl::StatusOr<StepView> view = CanaryView(options);
  if (!view.ok()) return view.status();
  absl::StatusOr<Network<float>> network =
      Network<float>::Create({.channels = 1}, {network::FullyConnected{.outputs = kOutputs}});
  if (!network.ok()) return network.status();
  LabeledColumns canary{network::Matrix<float>::Constant(1, 1, 1000), {0}};
  const absl::StatusOr<Eigen::VectorXd> direction = ClippedSum(*network, *view, canary, {0});
  if (!direction.ok()) return direction.status();
  const double scale = 1 / (options.noise_multiplier * options.noise_multiplier);
  ArmScores scores;
  for (int trial = 0; trial < options.trials; ++trial) {
    for (const bool present : {false, true}) {
      double score = 0;
      for (int step = 0; step < options.steps; ++step) {
        const absl::StatusOr<Eigen::VectorXd> sum =
            ClippedSum(*network, *view, canary, present ? std::vector<int>{0} : std::vector<int>{});
        if (!sum.ok()) return sum.status();
        const absl::StatusOr<Eigen::VectorXd> released = release.Release(*sum, 1);
        if (!released.ok()) return released.status();
        score += released->dot(*direction) * scale;
      }
      (present ? scores.with_canary : scores.without_canary).push_back(score);
    }
  }
  return scores;
}

}  // namespace epsledger::trainers::fsdp
