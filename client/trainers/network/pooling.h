#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_POOLING_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_POOLING_H_

#include "client/trainers/network/layer.h"

namespace epsledger::trainers::network {

template <class T>
class AveragePoolLayer : public Layer<T> {
 public:
  AveragePoolLayer(const AveragePool& options, const Shape& input);

  Matrix<T> Forward(ConstParameters<T>, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const override;

 private:
  AveragePool options_;
  Shape input_;
  Shape output_;
};

// The largest value of each window; NaN if the window has a NaN. The gradient goes to the first
// entry, in row order, that has the largest value.
template <class T>
class MaxPoolLayer : public Layer<T> {
 public:
  MaxPoolLayer(const MaxPool& options, const Shape& input);

  Matrix<T> Forward(ConstParameters<T>, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const override;

 private:
  MaxPool options_;
  Shape input_;
  Shape output_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_POOLING_H_
