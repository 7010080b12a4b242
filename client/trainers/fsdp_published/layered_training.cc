#include "client/trainers/fsdp_published/layered_training.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp_published/printed_accounting.h"

namespace epsledger::trainers::fsdp_published {
namespace {

absl::StatusOr<Network> MakeNetwork(Eigen::Index inputs, int class_count,
                                    const TrainingOptions& options) {
  RETURN_IF_ERROR(CheckLayers(options.hidden_layers));
  std::vector<network::LayerOptions> layers = options.hidden_layers;
  layers.push_back(network::FullyConnected{.outputs = class_count});
  ASSIGN_OR_RETURN(Network network, Network::Create({.channels = inputs}, layers));
  network.Initialize(options.seed);
  return network;
}

// The rows d of each layer's gradient.
std::vector<int> RowsOf(const Network& network) {
  std::vector<int> rows;
  for (const Eigen::Index layer : FullyConnectedLayers(network)) {
    rows.push_back(static_cast<int>(network.shape(layer).size()) + 1);
  }
  return rows;
}

using BatchGradients = std::vector<std::vector<RecordGradient>>;  // by layer, then by record

// Returns the gradients of the records with these numbers.
absl::StatusOr<BatchGradients> GradientsOf(const LabeledImages& images,
                                           const std::vector<int>& chosen, double epsilon,
                                           const Network& network) {
  Eigen::MatrixXd inputs(images.pixels.rows(), static_cast<Eigen::Index>(chosen.size()));
  std::vector<int> labels;
  for (const int record : chosen) {
    inputs.col(static_cast<Eigen::Index>(labels.size())) = images.pixels.col(record).cast<double>();
    labels.push_back(images.labels[static_cast<size_t>(record)]);
  }
  return LayerGradients(network, inputs, labels, epsilon);
}

// Whether ReleaseBatch can release them.
bool AllFinite(const BatchGradients& gradients) {
  for (const std::vector<RecordGradient>& layer : gradients) {
    for (const RecordGradient& record : layer) {
      if (!std::isfinite(record.gradient.squaredNorm())) return false;
    }
  }
  return true;
}

// Steps (4) to (13) of Table 2.
absl::StatusOr<std::vector<PublishedRelease>> Step(const BatchGradients& gradients,
                                                   const TrainingOptions& options,
                                                   const NormalSource& normal, Network& network) {
  const std::vector<Eigen::Index> layers = FullyConnectedLayers(network);
  std::vector<PublishedRelease> releases;
  for (size_t i = 0; i < layers.size(); ++i) {
    ASSIGN_OR_RETURN(PublishedRelease release, ReleaseBatch(gradients[i], options.release, normal));
    if (release.used > 0) {
      AddToWeights(-options.learning_rate * release.gradient, layers[i], network);
    }
    releases.push_back(std::move(release));
  }
  return releases;
}

}  // namespace

absl::StatusOr<PublishedRun> TrainAsPublished(const LabeledImages& images, int class_count,
                                              const TrainingOptions& options,
                                              const BatchSource& batches,
                                              const NormalSource& normal,
                                              const std::function<void(const StepReport&)>& show) {
  ASSIGN_OR_RETURN(Network network, MakeNetwork(images.pixels.rows(), class_count, options));
  const PrintedAccountant accountant(options.release.budget, options.sampling_probability,
                                     RowsOf(network));
  PublishedRun run{.network = std::move(network)};
  while (run.steps < options.steps && !run.exceeded_limit) {
    ASSIGN_OR_RETURN(const std::vector<int> chosen, batches());
    ASSIGN_OR_RETURN(const BatchGradients gradients,
                     GradientsOf(images, chosen, options.release.budget.epsilon, run.network));
    if (!AllFinite(gradients)) {
      run.diverged = true;
      break;
    }
    ASSIGN_OR_RETURN(const std::vector<PublishedRelease> releases,
                     Step(gradients, options, normal, run.network));
    ++run.steps;
    run.printed_epsilon = accountant.Epsilon(run.steps);
    run.printed_epsilon_of_whole_releases = accountant.EpsilonOfWholeReleases(run.steps);
    // (14)
    run.exceeded_limit = run.printed_epsilon > options.printed_epsilon_limit;
    show({.step = run.steps,
          .releases = releases,
          .network = run.network,
          .printed_epsilon = run.printed_epsilon});
  }
  return run;
}

double Accuracy(const Network& network, const HeldOutImages& held_out) {
  const LabeledImages& images = held_out.images;
  const absl::StatusOr<network::Tape<double>> tape = network.Forward(images.pixels.cast<double>());
  if (images.labels.empty() || !tape.ok()) return 0;
  int right = 0;
  for (Eigen::Index i = 0; i < images.pixels.cols(); ++i) {
    Eigen::Index best = 0;
    tape->activations.back().col(i).maxCoeff(&best);
    right += best == images.labels[static_cast<size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(images.labels.size());
}

}  // namespace epsledger::trainers::fsdp_published
