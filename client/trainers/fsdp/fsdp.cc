#include "client/trainers/fsdp/fsdp.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/relevance.h"
#include "client/trainers/network/sgd.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Network;
using network::Sgd;
using network::Vector;

constexpr uint64_t kFirstSubspaceSeed = 1;
// Adapted clip norms stay within these bounds.
constexpr double kSmallestClip = 1e-12;
constexpr double kLargestClip = 1e12;

absl::Status OutOfDomain(const char* field, double got, const char* want) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": got ", got, ", want ", want));
}

absl::Status Validate(const TrainingOptions& options) {
  if (options.max_steps < 1) return OutOfDomain("max_steps", options.max_steps, "at least 1");
  if (!(options.expected_batch_size > 0) || !std::isfinite(options.expected_batch_size)) {
    return OutOfDomain("expected_batch_size", options.expected_batch_size, "in (0, inf)");
  }
  if (!(options.average_decay >= 0 && options.average_decay < 1)) {
    return OutOfDomain("average_decay", options.average_decay, "in [0, 1)");
  }
  if (options.quantile.has_value()) {
    if (!(options.quantile->quantile > 0 && options.quantile->quantile < 1)) {
      return OutOfDomain("quantile.quantile", options.quantile->quantile, "in (0, 1)");
    }
    if (!(options.quantile->rate > 0 && options.quantile->rate <= 10)) {
      return OutOfDomain("quantile.rate", options.quantile->rate, "in (0, 10]");
    }
  }
  if (options.rank < 1) {
    return OutOfDomain("rank", static_cast<double>(options.rank), "at least 1");
  }
  if (options.subspace != SubspaceKind::kOff &&
      !(options.embedding_fraction > 0 && options.embedding_fraction < 1)) {
    return OutOfDomain("embedding_fraction", options.embedding_fraction, "in (0, 1)");
  }
  if (!(options.history_decay >= 0 && options.history_decay < 1)) {
    return OutOfDomain("history_decay", options.history_decay, "in [0, 1)");
  }
  if (options.refresh_every < 1) {
    return OutOfDomain("refresh_every", options.refresh_every, "at least 1");
  }
  if (!(options.bias_scale >= 0 && options.bias_scale <= 1e6)) {
    return OutOfDomain("bias_scale", options.bias_scale, "in [0, 1e6]");
  }
  if (options.threads < 1) return OutOfDomain("threads", options.threads, "at least 1");
  if (options.subspace == SubspaceKind::kPublic && options.public_records.labels.empty()) {
    return absl::InvalidArgumentError("public_records: got none, want some for this subspace");
  }
  return absl::OkStatus();
}

bool HasSubspace(const Network<float>& network, const TrainingOptions& options,
                 Eigen::Index layer) {
  return options.subspace != SubspaceKind::kOff &&
         std::holds_alternative<network::FullyConnected>(network.layers()[layer]) &&
         network.shape(layer + 1).size() > options.rank;
}

// One training run, between its steps.
class Run {
 public:
  Run(Network<float>& network, const LabeledColumns& records, const TrainingOptions& options,
      TrainingState state, Sgd<float> sgd)
      : network_(network),
        records_(records),
        options_(options),
        state_(std::move(state)),
        sgd_(std::move(sgd)) {}

  // Returns the view of the next step. INVALID_ARGUMENT if options conflict.
  absl::StatusOr<StepView> NextView() {
    if (state_.step % options_.refresh_every == 0) {
      RETURN_IF_ERROR(Refresh());
    }
    StepView view{.geometry = options_.geometry,
                  .embedding_clip = state_.embedding_clip,
                  .residual_clip = state_.residual_clip};
    bool any_subspace = false;
    for (Eigen::Index layer = 0; layer < network_.layer_count(); ++layer) {
      view.layers.push_back({state_.subspaces[layer], state_.scales[layer]});
      any_subspace = any_subspace || state_.subspaces[layer].rows() > 0;
    }
    NoiseSplitOptions split;
    if (any_subspace) split.embedding_fraction = options_.embedding_fraction;
    if (options_.quantile.has_value()) {
      split.indicator_noise = options_.quantile->indicator_noise;
      split.indicator_count = any_subspace && options_.geometry == ClipGeometry::kSeparate ? 2 : 1;
    }
    ASSIGN_OR_RETURN(NoiseShares shares, SplitNoise(split, options_.noise_multiplier));
    view.shares = shares;
    return view;
  }

  absl::StatusOr<Eigen::VectorXd> Sum(const StepView& view, const std::vector<int>& batch) const {
    return ClippedSum(network_, view, records_, batch, options_.threads);
  }

  // Takes a step with the released vector.
  StepReport Take(const StepView& view, const Eigen::VectorXd& released) {
    const Vector<float> gradient =
        Reconstruct(network_, view, released) / static_cast<float>(options_.expected_batch_size);
    AddToHistories(view, gradient);
    sgd_.Step(gradient, &network_.parameters());
    ++state_.step;
    state_.parameters = network_.parameters();
    state_.velocity = sgd_.velocity();
    if (options_.average_decay > 0) {
      // An early average covers only the steps that exist.
      const double step = static_cast<double>(state_.step);
      const auto decay = static_cast<float>(std::min(options_.average_decay, step / (step + 9)));
      state_.average = decay * state_.average + (1 - decay) * state_.parameters;
    }
    StepReport report{.state = state_, .update_norm = gradient.norm()};
    report.fraction_within_clip = AdaptClips(view, released);
    return report;
  }

  TrainingState& state() { return state_; }

 private:
  absl::Status Refresh() {
    std::vector<Eigen::MatrixXd> moments;
    if (options_.subspace == SubspaceKind::kPublic) {
      ASSIGN_OR_RETURN(std::vector<Eigen::MatrixXd> found,
                       PublicMoments(network_, options_.public_records));
      moments = std::move(found);
    }
    std::vector<Eigen::VectorXd> relevances;
    if (options_.relevance == RelevanceKind::kWeights) relevances = WeightRelevances(network_);
    for (Eigen::Index layer = 0; layer < network_.layer_count(); ++layer) {
      const auto index = static_cast<size_t>(layer);
      if (HasSubspace(network_, options_, layer)) {
        RefreshSubspace(layer, moments.empty() ? Eigen::MatrixXd() : moments[index]);
      }
      const GradientHistory& history = state_.histories[index];
      if (!relevances.empty() && relevances[index].size() > 0) {
        state_.scales[index] = ScalesOf(relevances[index].array().square().matrix());
      } else if (options_.relevance == RelevanceKind::kHistory && !history.empty()) {
        const Eigen::VectorXd squares = history.ColumnSquares();
        state_.scales[index] = ScalesOf(squares.head(squares.size() - 1));
      }
      SetBiasScale(layer);
    }
    return absl::OkStatus();
  }

  void RefreshSubspace(Eigen::Index layer, const Eigen::MatrixXd& public_moment) {
    const auto index = static_cast<size_t>(layer);
    Matrix<float>& subspace = state_.subspaces[index];
    const Eigen::Index outputs = network_.shape(layer + 1).size();
    const Eigen::Index rank = options_.rank;
    const Matrix<float> start =
        subspace.rows() == rank ? subspace : RandomSubspace(rank, outputs, kFirstSubspaceSeed);
    switch (options_.subspace) {
      case SubspaceKind::kOff:
        break;
      case SubspaceKind::kHistory:
        // Before the first release all subspaces are equally good.
        subspace = state_.histories[index].empty()
                       ? start
                       : TopSubspace(state_.histories[index].SecondMoment(), rank, start);
        break;
      case SubspaceKind::kNextLayerWeights:
        subspace = NextLayerSubspace(network_, layer, rank, start);
        break;
      case SubspaceKind::kPublic:
        subspace = TopSubspace(public_moment, rank, start);
        break;
    }
  }

  void SetBiasScale(Eigen::Index layer) {
    if (options_.bias_scale == 1 ||
        !std::holds_alternative<network::FullyConnected>(network_.layers()[layer])) {
      return;
    }
    Vector<float>& scales = state_.scales[static_cast<size_t>(layer)];
    if (scales.size() == 0) scales = Vector<float>::Ones(network_.shape(layer).size() + 1);
    scales.tail(1).setConstant(static_cast<float>(options_.bias_scale));
  }

  // Returns the standard deviation of the noise in one coordinate of a part, after Reconstruct.
  double Deviation(const StepView& view, double clip, double share) const {
    if (view.geometry == ClipGeometry::kJoint) {
      share = std::hypot(view.shares.embedding, view.shares.residual);
    }
    return options_.noise_multiplier * clip / share / options_.expected_batch_size;
  }

  void AddToHistories(const StepView& view, const Vector<float>& gradient) {
    const bool needed = options_.subspace == SubspaceKind::kHistory ||
                        options_.relevance == RelevanceKind::kHistory;
    if (!needed) return;
    for (Eigen::Index layer = 0; layer < network_.layer_count(); ++layer) {
      if (!std::holds_alternative<network::FullyConnected>(network_.layers()[layer])) continue;
      const auto index = static_cast<size_t>(layer);
      const LayerView& layer_view = view.layers[index];
      const Eigen::Index outputs = network_.shape(layer + 1).size();
      const Eigen::Index columns = network_.shape(layer).size() + 1;
      const double residual = Deviation(view, view.residual_clip, view.shares.residual);
      Eigen::MatrixXd noise = residual * residual * Eigen::MatrixXd::Identity(outputs, outputs);
      if (layer_view.subspace.rows() > 0) {
        const double embedding = Deviation(view, view.embedding_clip, view.shares.embedding);
        noise += (embedding * embedding - residual * residual) *
                 (layer_view.subspace.transpose() * layer_view.subspace).cast<double>();
      }
      const double scale_squares = layer_view.column_scales.size() > 0
                                       ? layer_view.column_scales.cast<double>().squaredNorm()
                                       : static_cast<double>(columns);
      const Eigen::MatrixXf released = Eigen::Map<const Matrix<float>>(
          gradient.data() + network_.segment(layer).begin, outputs, columns);
      state_.histories[index].Add(released, noise * scale_squares, options_.history_decay);
    }
  }

  // Returns the released fraction of the residual's (or the joint) indicator.
  std::optional<double> AdaptClips(const StepView& view, const Eigen::VectorXd& released) {
    if (!options_.quantile.has_value()) return std::nullopt;
    const int count = view.shares.indicator_count;
    const auto fraction = [&](int indicator) {
      const double votes = released[released.size() - count + indicator] / view.shares.indicator;
      // Each vote is +-1 and represents +-1/2.
      return votes / 2 / options_.expected_batch_size + 0.5;
    };
    const auto adapted = [&](double clip, int indicator) {
      const double exponent =
          -options_.quantile->rate * (fraction(indicator) - options_.quantile->quantile);
      return std::clamp(clip * std::exp(std::clamp(exponent, -1.0, 1.0)), kSmallestClip,
                        kLargestClip);
    };
    state_.residual_clip = adapted(view.residual_clip, 0);
    if (options_.geometry == ClipGeometry::kJoint) {
      state_.embedding_clip = adapted(view.embedding_clip, 0);
    } else if (count > 1) {
      state_.embedding_clip = adapted(view.embedding_clip, 1);
    }
    return fraction(0);
  }

  Network<float>& network_;
  const LabeledColumns& records_;
  const TrainingOptions& options_;
  TrainingState state_;
  Sgd<float> sgd_;
};

}  // namespace

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kStepLimit:
      return "step limit";
    case StopReason::kRefused:
      return "refused";
    case StopReason::kReleaseFailed:
      break;
  }
  return "release failed";
}

TrainingState InitialState(const Network<float>& network, const TrainingOptions& options) {
  TrainingState state{.parameters = network.parameters(),
                      .velocity = Vector<float>::Zero(network.parameter_count()),
                      .embedding_clip = options.embedding_clip,
                      .residual_clip = options.residual_clip};
  if (options.average_decay > 0) state.average = state.parameters;
  const auto layers = static_cast<size_t>(network.layer_count());
  state.subspaces.resize(layers);
  state.scales.resize(layers);
  state.histories.resize(layers);
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    if (std::holds_alternative<network::FullyConnected>(network.layers()[layer])) {
      state.histories[static_cast<size_t>(layer)] =
          GradientHistory(network.shape(layer + 1).size(), network.shape(layer).size() + 1);
    }
  }
  return state;
}

absl::StatusOr<TrainingResult> TrainSound(Network<float>& network, const LabeledColumns& records,
                                          const TrainingOptions& options, TrainingState state,
                                          const BatchSource& batches, GradientRelease& release,
                                          const StepObserver& observer) {
  RETURN_IF_ERROR(Validate(options));
  if (state.parameters.size() != network.parameter_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "state.parameters: got ", state.parameters.size(), ", want ", network.parameter_count()));
  }
  ASSIGN_OR_RETURN(Sgd<float> sgd, Sgd<float>::Create({.learning_rate = options.learning_rate,
                                                       .momentum = options.momentum},
                                                      network.parameter_count()));
  RETURN_IF_ERROR(sgd.SetVelocity(state.velocity));
  network.parameters() = state.parameters;
  Run run(network, records, options, std::move(state), std::move(sgd));
  TrainingResult result;
  while (run.state().step < options.max_steps) {
    ASSIGN_OR_RETURN(const StepView view, run.NextView());
    ASSIGN_OR_RETURN(const std::vector<int> batch, batches());
    ASSIGN_OR_RETURN(const Eigen::VectorXd sum, run.Sum(view, batch));
    const auto start = std::chrono::steady_clock::now();
    const absl::StatusOr<Eigen::VectorXd> released = release.Release(sum, 1);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    result.seconds_in_release += waited.count();
    if (!released.ok()) {
      result.release_status = released.status();
      result.stop_reason = absl::IsFailedPrecondition(released.status())
                               ? StopReason::kRefused
                               : StopReason::kReleaseFailed;
      break;
    }
    ++result.releases;
    if (released->size() != sum.size() || !released->allFinite()) {
      result.release_status =
          absl::InternalError("a released vector has another size than the sum, or is not finite");
      result.stop_reason = StopReason::kReleaseFailed;
      break;
    }
    StepReport report = run.Take(view, *released);
    report.seconds_in_release = waited.count();
    if (observer) observer(report);
  }
  result.state = std::move(run.state());
  return result;
}

}  // namespace epsledger::trainers::fsdp
