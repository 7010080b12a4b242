#include "client/trainers/network/network.h"

#include <random>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::network {
namespace {

constexpr Eigen::Index kMaxParameters = Eigen::Index{1} << 28;
constexpr int kMaxThreads = 256;

// Returns the samples with non-zero weight.
template <class T>
std::vector<Eigen::Index> Contributors(const Vector<T>& weights) {
  std::vector<Eigen::Index> samples;
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0) samples.push_back(i);
  }
  return samples;
}

}  // namespace

template <class T>
absl::StatusOr<Network<T>> Network<T>::Create(const Shape& input,
                                              const std::vector<LayerOptions>& layers) {
  if (absl::Status status = ValidateShape(input); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("input.", status.message()));
  }
  if (layers.empty()) return absl::InvalidArgumentError("layers: got none, want at least one");
  Network result;
  result.options_ = layers;
  result.shapes_.push_back(input);
  Eigen::Index parameter_count = 0;
  for (const LayerOptions& options : layers) {
    const absl::StatusOr<Shape> output = OutputShape(options, result.shapes_.back());
    if (!output.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("layers[", result.layers_.size(), "].", output.status().message()));
    }
    result.layers_.push_back(MakeLayer<T>(options, result.shapes_.back()));
    result.shapes_.push_back(*output);
    const Eigen::Index size = result.layers_.back()->parameter_count();
    result.segments_.push_back({.begin = parameter_count, .size = size});
    parameter_count += size;
    if (parameter_count > kMaxParameters) {
      return absl::InvalidArgumentError(absl::StrCat("layers: got ", parameter_count,
                                                     " parameters, want at most ", kMaxParameters));
    }
  }
  result.parameters_ = Vector<T>::Zero(parameter_count);
  return result;
}

template <class T>
Initialization Network<T>::InitializationOf(Eigen::Index layer) const {
  for (Eigen::Index next = layer + 1; next < layer_count(); ++next) {
    const LayerOptions& options = options_[next];
    if (std::holds_alternative<Relu>(options)) return Initialization::kKaiming;
    const bool keeps_looking = std::holds_alternative<GroupNorm>(options) ||
                               std::holds_alternative<AveragePool>(options) ||
                               std::holds_alternative<MaxPool>(options);
    if (!keeps_looking) break;
  }
  return Initialization::kXavier;
}

template <class T>
void Network<T>::Initialize(uint64_t seed) {
  std::mt19937_64 random(seed);
  for (Eigen::Index layer = 0; layer < layer_count(); ++layer) {
    const Segment& segment = segments_[layer];
    layers_[layer]->Initialize(InitializationOf(layer), random,
                               parameters_.segment(segment.begin, segment.size));
  }
}

template <class T>
ConstParameters<T> Network<T>::LayerParameters(Eigen::Index layer) const {
  return parameters_.segment(segments_[layer].begin, segments_[layer].size);
}

template <class T>
LayerPass<T> Network<T>::Pass(const Tape<T>& tape, Eigen::Index layer) const {
  return {.inputs = tape.activations[layer],
          .outputs = tape.activations[layer + 1],
          .output_gradients = tape.gradients[layer + 1],
          .sample_gradients = tape.sample_gradients[layer]};
}

template <class T>
absl::Status Network<T>::set_thread_count(int thread_count) {
  if (thread_count < 1 || thread_count > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("thread_count: got ", thread_count, ", want one in [1, ", kMaxThreads, "]"));
  }
  for (const std::unique_ptr<Layer<T>>& layer : layers_) layer->set_thread_count(thread_count);
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<Tape<T>> Network<T>::Forward(Matrix<T> batch) const {
  if (batch.rows() != shapes_.front().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batch: got ", batch.rows(), " values a sample, want ", shapes_.front().size()));
  }
  Tape<T> tape;
  tape.activations.reserve(layers_.size() + 1);
  tape.activations.push_back(std::move(batch));
  for (Eigen::Index layer = 0; layer < layer_count(); ++layer) {
    tape.activations.push_back(
        layers_[layer]->Forward(LayerParameters(layer), tape.activations.back()));
  }
  return tape;
}

template <class T>
absl::Status Network<T>::Backward(Matrix<T> output_gradients, Tape<T>* tape,
                                  BatchGradient batch_gradient) const {
  const Matrix<T>& outputs = tape->activations.back();
  if (output_gradients.rows() != outputs.rows() || output_gradients.cols() != outputs.cols()) {
    return absl::InvalidArgumentError(
        absl::StrCat("output_gradients: got ", output_gradients.rows(), " x ",
                     output_gradients.cols(), ", want ", outputs.rows(), " x ", outputs.cols()));
  }
  tape->gradients.assign(layers_.size() + 1, Matrix<T>());
  tape->gradients.back() = std::move(output_gradients);
  tape->sample_gradients.assign(layers_.size(), Matrix<T>());
  const Eigen::Index last = batch_gradient == BatchGradient::kCompute ? 0 : 1;
  for (Eigen::Index layer = layer_count() - 1; layer >= 0; --layer) {
    tape->sample_gradients[layer] = layers_[layer]->SampleGradients(Pass(*tape, layer));
    if (layer < last) continue;
    tape->gradients[layer] =
        layers_[layer]->InputGradients(LayerParameters(layer), Pass(*tape, layer));
  }
  return absl::OkStatus();
}

template <class T>
Eigen::ArrayXd Network<T>::LayerSquaredNorms(const Tape<T>& tape, Eigen::Index layer) const {
  Eigen::ArrayXd squared_norms = Eigen::ArrayXd::Zero(tape.activations.front().cols());
  layers_[layer]->AddSquaredNorms(Pass(tape, layer), &squared_norms);
  return squared_norms;
}

template <class T>
Eigen::ArrayXd Network<T>::SquaredNorms(const Tape<T>& tape) const {
  Eigen::ArrayXd squared_norms = Eigen::ArrayXd::Zero(tape.activations.front().cols());
  for (Eigen::Index layer = 0; layer < layer_count(); ++layer) {
    layers_[layer]->AddSquaredNorms(Pass(tape, layer), &squared_norms);
  }
  return squared_norms;
}

template <class T>
Matrix<T> Network<T>::SampleGradients(const Tape<T>& tape, Eigen::Index layer) const {
  const LayerPass<T> batch = Pass(tape, layer);
  if (batch.sample_gradients.cols() > 0) return batch.sample_gradients;
  const Vector<T> one = Vector<T>::Ones(1);
  const Matrix<T> none;
  Matrix<T> gradients = Matrix<T>::Zero(segments_[layer].size, batch.inputs.cols());
  for (Eigen::Index i = 0; i < gradients.cols(); ++i) {
    const Matrix<T> inputs = batch.inputs.col(i);
    const Matrix<T> outputs = batch.outputs.col(i);
    const Matrix<T> output_gradients = batch.output_gradients.col(i);
    layers_[layer]->AddWeightedGradient({.inputs = inputs,
                                         .outputs = outputs,
                                         .output_gradients = output_gradients,
                                         .sample_gradients = none},
                                        one, gradients.col(i));
  }
  return gradients;
}

template <class T>
absl::StatusOr<Vector<T>> Network<T>::WeightedGradient(const Tape<T>& tape,
                                                       const Vector<T>& weights) const {
  const Eigen::Index samples = tape.activations.front().cols();
  if (weights.size() != samples) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights: got ", weights.size(), ", want one for each of the ", samples, " samples"));
  }
  if (!weights.allFinite()) return absl::InvalidArgumentError("weights: want finite numbers");
  // 0 times NaN is NaN: a sample of weight 0 must be left out of the sums, not multiplied by 0.
  const std::vector<Eigen::Index> contributors = Contributors(weights);
  const bool all = static_cast<Eigen::Index>(contributors.size()) == samples;
  const Vector<T> used = all ? weights : Vector<T>(weights(contributors));
  Vector<T> gradient = Vector<T>::Zero(parameter_count());
  if (contributors.empty()) return gradient;
  for (Eigen::Index layer = 0; layer < layer_count(); ++layer) {
    const auto [begin, size] = segments_[layer];
    if (size == 0) continue;
    const LayerPass<T> pass = Pass(tape, layer);
    if (all) {
      layers_[layer]->AddWeightedGradient(pass, used, gradient.segment(begin, size));
      continue;
    }
    const Matrix<T> inputs = pass.inputs(Eigen::all, contributors);
    const Matrix<T> outputs = pass.outputs(Eigen::all, contributors);
    const Matrix<T> output_gradients = pass.output_gradients(Eigen::all, contributors);
    const Matrix<T> sample_gradients =
        pass.sample_gradients.cols() == 0
            ? Matrix<T>()
            : Matrix<T>(pass.sample_gradients(Eigen::all, contributors));
    layers_[layer]->AddWeightedGradient({.inputs = inputs,
                                         .outputs = outputs,
                                         .output_gradients = output_gradients,
                                         .sample_gradients = sample_gradients},
                                        used, gradient.segment(begin, size));
  }
  return gradient;
}

template class Network<float>;
template class Network<double>;

}  // namespace epsledger::trainers::network
