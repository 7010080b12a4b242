#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_SOFTMAX_TRAINING_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_SOFTMAX_TRAINING_H_

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"
#include "client/trainers/fsdp_published/published_release.h"

namespace epsledger::trainers::fsdp_published {

// One fully connected layer and softmax: logits = weights^T x, where the last input is 1.
struct SoftmaxLayer {
  Eigen::MatrixXd weights;  // (inputs + 1) x classes
};

// Returns the gradient of the record's cross-entropy, x (softmax - label)^T, and its row budgets by
// (6) and (7). `pixels` are the inputs without the last.
RecordGradient GradientOf(const SoftmaxLayer& layer, const Eigen::VectorXd& pixels, int label,
                          double epsilon);

struct TrainingOptions {
  PublishedOptions release;
  double sampling_probability = 0.05;  // L / N
  double learning_rate = 1;
  int64_t steps = 10;
};

// The report of one step. None of its values has a privacy guarantee.
struct StepReport {
  int64_t step = 0;
  const PublishedRelease& release;
  const SoftmaxLayer& layer;
};

using BatchSource = std::function<absl::StatusOr<std::vector<int>>()>;

// Trains by Table 2 without the stop by (14): `steps` steps from zero weights. THIS IS NOT PRIVATE;
// call it only after a nonPrivate charge was accepted. Fails as `batches` or ReleaseBatch.
absl::StatusOr<SoftmaxLayer> TrainAsPublished(const LabeledImages& images, int class_count,
                                              const TrainingOptions& options,
                                              const BatchSource& batches,
                                              const NormalSource& normal,
                                              const std::function<void(const StepReport&)>& show);

// Returns the share of held-out images whose class has the largest logit.
double Accuracy(const SoftmaxLayer& layer, const HeldOutImages& held_out);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_SOFTMAX_TRAINING_H_
