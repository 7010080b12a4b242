#include "client/trainers/network/fully_connected.h"

#include <algorithm>

#include "client/trainers/network/initialization.h"
#include "client/trainers/network/matrix_product.h"
#include "client/trainers/network/parallel.h"

namespace epsledger::trainers::network {
namespace {

// Columns of one product; only the last product may have fewer. The number is fixed, so that the
// number of threads changes no bit.
constexpr Eigen::Index kBlock = 128;

// Sets *result = left * right, one block of columns at a time.
template <class T>
void SetProductInBlocks(int thread_count, const Factor<T>& left, const Matrix<T>& right,
                        Eigen::Map<Matrix<T>> result) {
  const Eigen::Index blocks = (result.cols() + kBlock - 1) / kBlock;
  InParallel(thread_count, blocks, [&](Eigen::Index first, Eigen::Index past) {
    for (Eigen::Index block = first; block < past; ++block) {
      const Eigen::Index column = block * kBlock;
      const Eigen::Index count = std::min(kBlock, result.cols() - column);
      SetProduct<T>(left,
                    Eigen::Map<const Matrix<T>>(right.col(column).data(), right.rows(), count),
                    Eigen::Map<Matrix<T>>(result.col(column).data(), result.rows(), count));
    }
  });
}

}  // namespace

template <class T>
FullyConnectedLayer<T>::FullyConnectedLayer(const FullyConnected& options, const Shape& input)
    : inputs_(input.size()), outputs_(options.outputs) {}

template <class T>
Eigen::Map<const Matrix<T>> FullyConnectedLayer<T>::Weights(
    const ConstParameters<T>& parameters) const {
  return Eigen::Map<const Matrix<T>>(parameters.data(), outputs_, inputs_);
}

template <class T>
void FullyConnectedLayer<T>::Initialize(Initialization initialization, std::mt19937_64& random,
                                        Parameters<T> parameters) const {
  DrawWeights<T>(initialization, {.in = inputs_, .out = outputs_}, random,
                 parameters.head(outputs_ * inputs_));
  parameters.tail(outputs_).setZero();
}

template <class T>
Matrix<T> FullyConnectedLayer<T>::Forward(ConstParameters<T> parameters,
                                          const Matrix<T>& inputs) const {
  Matrix<T> outputs(outputs_, inputs.cols());
  SetProductInBlocks<T>(this->thread_count(), Weights(parameters), inputs,
                        Eigen::Map<Matrix<T>>(outputs.data(), outputs.rows(), outputs.cols()));
  outputs.colwise() += parameters.tail(outputs_);
  return outputs;
}

template <class T>
Matrix<T> FullyConnectedLayer<T>::InputGradients(ConstParameters<T> parameters,
                                                 const LayerPass<T>& pass) const {
  Matrix<T> gradients(inputs_, pass.output_gradients.cols());
  SetProductInBlocks<T>(
      this->thread_count(), Factor<T>(Weights(parameters)).Transposed(), pass.output_gradients,
      Eigen::Map<Matrix<T>>(gradients.data(), gradients.rows(), gradients.cols()));
  return gradients;
}

template <class T>
void FullyConnectedLayer<T>::AddSquaredNorms(const LayerPass<T>& pass,
                                             Eigen::ArrayXd* squared_norms) const {
  for (Eigen::Index i = 0; i < squared_norms->size(); ++i) {
    const double input = pass.inputs.col(i).template cast<double>().squaredNorm();
    const double output = pass.output_gradients.col(i).template cast<double>().squaredNorm();
    (*squared_norms)[i] += output * (input + 1);
  }
}

template <class T>
void FullyConnectedLayer<T>::AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                                                 Parameters<T> gradient) const {
  const Matrix<T> weighted = pass.output_gradients * weights.asDiagonal();
  const Matrix<T> by_sample = pass.inputs.transpose();
  Matrix<T> sum(outputs_, inputs_);
  SetProductInBlocks<T>(this->thread_count(), weighted, by_sample,
                        Eigen::Map<Matrix<T>>(sum.data(), outputs_, inputs_));
  gradient.head(sum.size()) += sum.reshaped();
  gradient.tail(outputs_) += weighted.rowwise().sum();
}

template class FullyConnectedLayer<float>;
template class FullyConnectedLayer<double>;

}  // namespace epsledger::trainers::network
