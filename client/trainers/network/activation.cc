#include "client/trainers/network/activation.h"

#include "client/trainers/network/parallel.h"

namespace epsledger::trainers::network {

template <class T>
Matrix<T> TanhLayer<T>::Forward(ConstParameters<T>, const Matrix<T>& inputs) const {
  Matrix<T> outputs(inputs.rows(), inputs.cols());
  InParallel(this->thread_count(), inputs.cols(), [&](Eigen::Index first, Eigen::Index past) {
    for (Eigen::Index i = first; i < past; ++i) outputs.col(i) = inputs.col(i).array().tanh();
  });
  return outputs;
}

template <class T>
Matrix<T> TanhLayer<T>::InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const {
  Matrix<T> gradients(pass.outputs.rows(), pass.outputs.cols());
  InParallel(this->thread_count(), gradients.cols(), [&](Eigen::Index first, Eigen::Index past) {
    gradients.middleCols(first, past - first) =
        pass.output_gradients.middleCols(first, past - first).array() *
        (1 - pass.outputs.middleCols(first, past - first).array().square());
  });
  return gradients;
}

template <class T>
Matrix<T> ReluLayer<T>::Forward(ConstParameters<T>, const Matrix<T>& inputs) const {
  return inputs.unaryExpr([](T x) { return x < 0 ? T{0} : x; });
}

template <class T>
Matrix<T> ReluLayer<T>::InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const {
  return pass.inputs.binaryExpr(pass.output_gradients, [](T x, T gradient) {
    return x <= 0 ? T{0} : gradient;  // a NaN input keeps its gradient
  });
}

template class TanhLayer<float>;
template class TanhLayer<double>;
template class ReluLayer<float>;
template class ReluLayer<double>;

}  // namespace epsledger::trainers::network
