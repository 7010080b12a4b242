#include "client/trainers/network/group_norm.h"

#include <cmath>

namespace epsledger::trainers::network {

template <class T>
GroupNormLayer<T>::GroupNormLayer(const GroupNorm& options, const Shape& input)
    : options_(options), shape_(input) {}

template <class T>
void GroupNormLayer<T>::Initialize(Initialization, std::mt19937_64&,
                                   Parameters<T> parameters) const {
  parameters.head(shape_.channels).setOnes();
  parameters.tail(shape_.channels).setZero();
}

template <class T>
Eigen::Map<const Matrix<T>> GroupNormLayer<T>::Channels(const T* sample) const {
  return Eigen::Map<const Matrix<T>>(sample, shape_.positions(), shape_.channels);
}

template <class T>
typename GroupNormLayer<T>::Normalized GroupNormLayer<T>::Normalize(const T* sample) const {
  Normalized normalized{.values = Channels(sample),
                        .inverse_deviations = Vector<T>(options_.groups)};
  const Eigen::Index channels = shape_.channels / options_.groups;
  for (Eigen::Index group = 0; group < options_.groups; ++group) {
    auto values = normalized.values.middleCols(group * channels, channels).array();
    values -= values.mean();
    const T variance = values.square().mean();
    const T inverse = 1 / std::sqrt(variance + static_cast<T>(options_.variance_offset));
    values *= inverse;
    normalized.inverse_deviations[group] = inverse;
  }
  return normalized;
}

template <class T>
Matrix<T> GroupNormLayer<T>::Forward(ConstParameters<T> parameters, const Matrix<T>& inputs) const {
  const auto weight = parameters.head(shape_.channels);
  const auto bias = parameters.tail(shape_.channels);
  Matrix<T> outputs(shape_.size(), inputs.cols());
  for (Eigen::Index i = 0; i < inputs.cols(); ++i) {
    Eigen::Map<Matrix<T>> output(outputs.col(i).data(), shape_.positions(), shape_.channels);
    output = Normalize(inputs.col(i).data()).values * weight.asDiagonal();
    output.rowwise() += bias.transpose();
  }
  return outputs;
}

// With h = weight * output gradient and n the normalized values of a group of m entries, the input
// gradient is (h - mean(h) - n mean(h n)) / sqrt(variance + variance_offset).
template <class T>
Matrix<T> GroupNormLayer<T>::InputGradients(ConstParameters<T> parameters,
                                            const LayerPass<T>& pass) const {
  const auto weight = parameters.head(shape_.channels);
  const Eigen::Index channels = shape_.channels / options_.groups;
  Matrix<T> gradients(shape_.size(), pass.inputs.cols());
  for (Eigen::Index i = 0; i < gradients.cols(); ++i) {
    const Normalized normalized = Normalize(pass.inputs.col(i).data());
    Eigen::Map<Matrix<T>> gradient(gradients.col(i).data(), shape_.positions(), shape_.channels);
    gradient = Channels(pass.output_gradients.col(i).data()) * weight.asDiagonal();
    for (Eigen::Index group = 0; group < options_.groups; ++group) {
      auto h = gradient.middleCols(group * channels, channels).array();
      const auto n = normalized.values.middleCols(group * channels, channels).array();
      const T mean = h.mean();
      const T slope = (h * n).mean();
      h = (h - mean - n * slope) * normalized.inverse_deviations[group];
    }
  }
  return gradients;
}

template <class T>
Vector<T> GroupNormLayer<T>::SampleGradient(const LayerPass<T>& pass, Eigen::Index i) const {
  // A copy, because the order of Eigen's additions can depend on the alignment of the data.
  const Matrix<T> output_gradient = Channels(pass.output_gradients.col(i).data());
  const Matrix<T> values = Normalize(pass.inputs.col(i).data()).values;
  Vector<T> gradient(parameter_count());
  gradient.head(shape_.channels) = values.cwiseProduct(output_gradient).colwise().sum().transpose();
  gradient.tail(shape_.channels) = output_gradient.colwise().sum().transpose();
  return gradient;
}

template <class T>
void GroupNormLayer<T>::AddSquaredNorms(const LayerPass<T>& pass,
                                        Eigen::ArrayXd* squared_norms) const {
  for (Eigen::Index i = 0; i < squared_norms->size(); ++i) {
    (*squared_norms)[i] += SampleGradient(pass, i).template cast<double>().squaredNorm();
  }
}

template <class T>
void GroupNormLayer<T>::AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                                            Parameters<T> gradient) const {
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    gradient += weights[i] * SampleGradient(pass, i);
  }
}

template class GroupNormLayer<float>;
template class GroupNormLayer<double>;

}  // namespace epsledger::trainers::network
