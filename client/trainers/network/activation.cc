#include "client/trainers/network/activation.h"

namespace epsledger::trainers::network {

template <typename T>
Matrix<T> TanhLayer<T>::Forward(ConstParameters<T>, const Matrix<T>& inputs) const {
  return inputs.array().tanh();
}

template <typename T>
Matrix<T> TanhLayer<T>::InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const {
  return pass.output_gradients.array() * (1 - pass.outputs.array().square());
}

template <typename T>
Matrix<T> ReluLayer<T>::Forward(ConstParameters<T>, const Matrix<T>& inputs) const {
  return inputs.unaryExpr([](T x) { return x < 0 ? T{0} : x; });
}

template <typename T>
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
