#include "client/trainers/fsdp_published/softmax_training.h"
#include "accounting/event/status_macros.h"

#include <cstddef>

namespace epsledger::trainers::fsdp_published {
namespace {

// The stabilizer of the epsilon rule; the paper gives no value.
constexpr double kStabilizer = 1e-3;

Eigen::VectorXd WithOne(const Eigen::VectorXd& pixels) {
  Eigen::VectorXd inputs(pixels.size() + 1);
  inputs << pixels, 1;
  return inputs;
}

}  // namespace

RecordGradient GradientOf(const SoftmaxLayer& layer, const Eigen::VectorXd& pixels, int label,
                          double epsilon) {
  const Eigen::VectorXd inputs = WithOne(pixels);
  Eigen::VectorXd output = layer.weights.transpose() * inputs;
  output = (output.array() - output.maxCoeff()).exp();
  output /= output.sum();
  output[label] -= 1;
  const Eigen::VectorXd no_biases = Eigen::VectorXd::Zero(layer.weights.cols());
  const Eigen::VectorXd relevances =
      Relevances(layer.weights, no_biases, inputs, label, kStabilizer);
  return {.gradient = inputs * output.transpose(),
          .row_epsilons = RowEpsilons(relevances, epsilon)};
}

absl::StatusOr<SoftmaxLayer> TrainAsPublished(const LabeledImages& images, int class_count,
                                              const TrainingOptions& options,
                                              const BatchSource& batches,
                                              const NormalSource& normal,
                                              const std::function<void(const StepReport&)>& show) {
  SoftmaxLayer layer{Eigen::MatrixXd::Zero(images.pixels.rows() + 1, class_count)};
  for (int64_t step = 1; step <= options.steps; ++step) {
    ASSIGN_OR_RETURN(std::vector<int> chosen, batches());
    std::vector<RecordGradient> batch;
    for (const int record : chosen) {
      batch.push_back(GradientOf(layer, images.pixels.col(record).cast<double>(),
                                 images.labels[static_cast<size_t>(record)],
                                 options.release.budget.epsilon));
    }
    ASSIGN_OR_RETURN(PublishedRelease release, ReleaseBatch(batch, options.release, normal));
    if (release.used > 0) layer.weights -= options.learning_rate * release.gradient;
    show({.step = step, .release = release, .layer = layer});
  }
  return layer;
}

double Accuracy(const SoftmaxLayer& layer, const HeldOutImages& held_out) {
  const LabeledImages& images = held_out.images;
  if (images.labels.empty()) return 0;
  int right = 0;
  for (Eigen::Index i = 0; i < images.pixels.cols(); ++i) {
    const Eigen::VectorXd output =
        layer.weights.transpose() * WithOne(images.pixels.col(i).cast<double>());
    Eigen::Index best = 0;
    output.maxCoeff(&best);
    right += best == images.labels[static_cast<size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(images.labels.size());
}

}  // namespace epsledger::trainers::fsdp_published
