#include "client/trainers/network/fully_connected.h"

#include "client/trainers/network/initialization.h"

namespace epsledger::trainers::network {

template <typename T>
FullyConnectedLayer<T>::FullyConnectedLayer(const FullyConnected& options, const Shape& input)
    : inputs_(input.size()), outputs_(options.outputs) {}

template <typename T>
Eigen::Map<const Matrix<T>> FullyConnectedLayer<T>::Weights(
    const ConstParameters<T>& parameters) const {
  return Eigen::Map<const Matrix<T>>(parameters.data(), outputs_, inputs_);
}

template <typename T>
void FullyConnectedLayer<T>::Initialize(Initialization initialization, std::mt19937_64& random,
                                        Parameters<T> parameters) const {
  DrawWeights<T>(initialization, {.in = inputs_, .out = outputs_}, random,
                 parameters.head(outputs_ * inputs_));
  parameters.tail(outputs_).setZero();
}

template <typename T>
Matrix<T> FullyConnectedLayer<T>::Forward(ConstParameters<T> parameters,
                                          const Matrix<T>& inputs) const {
  Matrix<T> outputs(outputs_, inputs.cols());
  outputs.noalias() = Weights(parameters) * inputs;
  outputs.colwise() += parameters.tail(outputs_);
  return outputs;
}

template <typename T>
Matrix<T> FullyConnectedLayer<T>::InputGradients(ConstParameters<T> parameters,
                                                 const LayerPass<T>& pass) const {
  return Weights(parameters).transpose() * pass.output_gradients;
}

template <typename T>
void FullyConnectedLayer<T>::AddSquaredNorms(const LayerPass<T>& pass,
                                             Eigen::ArrayXd* squared_norms) const {
  for (Eigen::Index i = 0; i < squared_norms->size(); ++i) {
    const double input = pass.inputs.col(i).template cast<double>().squaredNorm();
    const double output = pass.output_gradients.col(i).template cast<double>().squaredNorm();
    (*squared_norms)[i] += output * (input + 1);
  }
}

template <typename T>
void FullyConnectedLayer<T>::AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                                                 Parameters<T> gradient) const {
  const Matrix<T> weighted = pass.output_gradients * weights.asDiagonal();
  Eigen::Map<Matrix<T>>(gradient.data(), outputs_, inputs_).noalias() +=
      weighted * pass.inputs.transpose();
  gradient.tail(outputs_) += weighted.rowwise().sum();
}

template class FullyConnectedLayer<float>;
template class FullyConnectedLayer<double>;

}  // namespace epsledger::trainers::network
