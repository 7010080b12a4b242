#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_FSDP_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_FSDP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/fsdp/subspace.h"
#include "client/trainers/network/network.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::fsdp {

enum class SubspaceKind {
  kOff,               // plain DP-SGD
  kHistory,           // from an exponential mean of released gradients
  kNextLayerWeights,  // row space of the next layer's weights
  kPublic,            // from the gradients of public records
};

enum class RelevanceKind {
  kOff,
  kWeights,  // layer-wise relevance propagation on public weights
  kHistory,  // column norms of released gradients
};

// Moves a clip norm toward a quantile of the norms [ATMR21]: C <- C exp(-rate (f - quantile)),
// where f is the released fraction of records within C.
struct QuantileClipping {
  double quantile = 0.5;       // in (0, 1)
  double rate = 0.2;           // > 0
  double indicator_noise = 0;  // standard deviation on each count; > 0
};

// All public, and fixed before the records are read.
struct TrainingOptions {
  int max_steps = 100;             // the maximum of releases, and so of charges; >= 1
  double noise_multiplier = 0;     // z of the event that each step is charged for; > 0
  double expected_batch_size = 0;  // what sums are divided by; > 0
  double learning_rate = 0.1;
  double momentum = 0.9;
  // Parameters are also averaged, exponentially with this decay; 0: no average. In [0, 1).
  double average_decay = 0;

  double embedding_clip = 1;  // C_V, at first
  double residual_clip = 1;   // C_Phi, at first; with kOff the clip norm of the gradient
  ClipGeometry geometry = ClipGeometry::kSeparate;
  std::optional<QuantileClipping> quantile;

  SubspaceKind subspace = SubspaceKind::kOff;
  Eigen::Index rank = 10;           // k, >= 1; layers with at most k outputs have no subspace
  double embedding_fraction = 0.7;  // share of the noise budget for V, in (0, 1); kSeparate only
  double history_decay = 0.95;      // in [0, 1)
  int refresh_every = 1;            // steps between new subspaces and scales; >= 1
  LabeledColumns public_records;    // for kPublic
  RelevanceKind relevance = RelevanceKind::kOff;

  // Scale of the bias columns, as LayerView::column_scales: 0 does not train biases, so the whole
  // clip norm is for the weights. In [0, 1e6].
  double bias_scale = 1;

  int threads = 1;  // >= 1; the result does not depend on it
};

// The state of training: functions of options and released vectors. A repeated step from the same
// state draws a fresh batch and fresh noise and is charged again.
struct TrainingState {
  int64_t step = 0;
  network::Vector<float> parameters;
  network::Vector<float> velocity;
  network::Vector<float> average;  // empty without averaging
  // What was subtracted from all inputs, a released mean of them (input_center.h); empty: nothing.
  // TrainSound takes inputs from which it is subtracted, and only keeps it.
  network::Vector<float> center;
  double embedding_clip = 1;
  double residual_clip = 1;
  std::vector<network::Matrix<float>> subspaces;  // a layer each
  std::vector<network::Vector<float>> scales;     // a layer each
  std::vector<GradientHistory> histories;         // a layer each
};

// Returns the state before the first step: the network's current parameters, the options' clip
// norms.
TrainingState InitialState(const network::Network<float>& network, const TrainingOptions& options);

// The public result of one step; `state` is valid only during the call.
struct StepReport {
  const TrainingState& state;
  std::optional<double> fraction_within_clip;  // released, of the residual or the joint norm
  double update_norm = 0;                      // of the released gradient
  double seconds_in_release = 0;
};
using StepObserver = std::function<void(const StepReport&)>;

// Draws the records of a step, each independently with the sampling probability that is charged. An
// empty batch is a valid batch.
using BatchSource = std::function<absl::StatusOr<std::vector<int>>()>;

enum class StopReason {
  kStepLimit,      // max_steps were taken
  kRefused,        // Release returned FAILED_PRECONDITION
  kReleaseFailed,  // Release returned another status, or a vector that cannot be used
};

// Returns "step limit", "refused" or "release failed".
std::string_view StopReasonName(StopReason reason);

struct TrainingResult {
  StopReason stop_reason = StopReason::kStepLimit;
  absl::Status release_status;  // not OK exactly for kRefused and kReleaseFailed
  int releases = 0;             // of this call
  double seconds_in_release = 0;
  TrainingState state;
};

// Trains by sound FSDP, from `state` to step max_steps:
//
//   sum       = ClippedSum(network, view, records, batch)          each record contributes <= 1
//   released  = release.Release(sum, 1)                            charged, then noise z
//   gradient  = Reconstruct(released) / expected_batch_size
//   parameters by momentum; clip norms, subspaces and scales by what was released
//
// Privacy: the result, each StepReport and the stopping time are functions of the options and of
// the vectors that `release` returned. If batches are Poisson samples with probability q and
// Release adds Gaussian noise of multiplier z, every step is one poissonSampled{q, gaussian{z}}
// (README, theorem 1).
//
// A release that is refused or fails ends training without an error here. A released vector of the
// wrong size or with entries that are not finite counts as a release and ends training with
// kReleaseFailed. INVALID_ARGUMENT that names the field, before any release, for options outside
// their domains. An error of `batches` is returned as it is. `network` is left with the last
// parameters.
absl::StatusOr<TrainingResult> TrainSound(network::Network<float>& network,
                                          const LabeledColumns& records,
                                          const TrainingOptions& options, TrainingState state,
                                          const BatchSource& batches, GradientRelease& release,
                                          const StepObserver& observer = {});

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_FSDP_H_
