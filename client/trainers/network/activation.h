#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_ACTIVATION_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_ACTIVATION_H_

#include "client/trainers/network/layer.h"

namespace epsledger::trainers::network {

// The result for a NaN is not specified: a NaN or a number in [-1, 1], in the same entry.
template <class T>
class TanhLayer : public Layer<T> {
 public:
  Matrix<T> Forward(ConstParameters<T>, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const override;
};

// max(0, x), with derivative 0 at 0. NaN stays NaN.
template <class T>
class ReluLayer : public Layer<T> {
 public:
  Matrix<T> Forward(ConstParameters<T>, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const override;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_ACTIVATION_H_
