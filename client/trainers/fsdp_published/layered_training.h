#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_LAYERED_TRAINING_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_LAYERED_TRAINING_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"
#include "client/trainers/fsdp_published/layer_gradients.h"
#include "client/trainers/fsdp_published/published_release.h"
#include "client/trainers/network/layer_options.h"

namespace epsledger::trainers::fsdp_published {

struct TrainingOptions {
  PublishedOptions release;
  // Before the logits: fully connected, tanh and relu. None: one softmax layer.
  std::vector<network::LayerOptions> hidden_layers;
  uint64_t seed = 1;                   // of the first parameters; public
  double sampling_probability = 0.05;  // L / N
  double learning_rate = 1;
  int64_t steps = 10;  // at most
  // epsilon_0 of step (14).
  double printed_epsilon_limit = std::numeric_limits<double>::infinity();
};

// The report of one step. None of its values has a privacy guarantee.
struct StepReport {
  int64_t step = 0;
  // One for each fully connected layer, from the input on.
  const std::vector<PublishedRelease>& releases;
  const Network& network;
  double printed_epsilon = 0;  // of all steps so far: PrintedAccountant::Epsilon; NOT PROVEN
};

struct PublishedRun {
  Network network;
  int64_t steps = 0;
  // Step (14) ended the run: the printed epsilon is above the limit.
  bool exceeded_limit = false;
  // The noise has driven the parameters so far that the next gradients are not finite numbers.
  bool diverged = false;
  // By (13) and by (11), see PrintedAccountant. NOT PROVEN.
  double printed_epsilon = 0;
  double printed_epsilon_of_whole_releases = 0;
};

using BatchSource = std::function<absl::StatusOr<std::vector<int>>()>;

// Trains by Table 2: in each step ReleaseBatch for every layer's gradients, w <- w - eta release,
// then step (14): it stops where the printed epsilon is above the limit. As printed this asks after
// the step, so the step that exceeds the limit is released (erratum 17). A run that diverges ends
// without an error. THIS IS NOT PRIVATE; call
// it only after a nonPrivate charge was accepted. Fails as `batches`, CheckLayers or ReleaseBatch.
absl::StatusOr<PublishedRun> TrainAsPublished(const LabeledImages& images, int class_count,
                                              const TrainingOptions& options,
                                              const BatchSource& batches,
                                              const NormalSource& normal,
                                              const std::function<void(const StepReport&)>& show);

// Returns the share of held-out images whose class has the largest logit.
double Accuracy(const Network& network, const HeldOutImages& held_out);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_LAYERED_TRAINING_H_
