#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_FULLY_CONNECTED_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_FULLY_CONNECTED_H_

#include "client/trainers/network/layer.h"

namespace epsledger::trainers::network {

// outputs = W inputs + b. Parameters: W (outputs x inputs, column-major), then b.
//
// The gradient of sample i is g_i a_i^T for W and g_i for b, of squared norm
// ||g_i||^2 (||a_i||^2 + 1) [Goodfellow 2015]: no sample's gradient is ever formed. The weighted
// sum is one matrix product.
template <class T>
class FullyConnectedLayer : public Layer<T> {
 public:
  FullyConnectedLayer(const FullyConnected& options, const Shape& input);

  Eigen::Index parameter_count() const override { return outputs_ * (inputs_ + 1); }
  void Initialize(Initialization initialization, std::mt19937_64& random,
                  Parameters<T> parameters) const override;
  Matrix<T> Forward(ConstParameters<T> parameters, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T> parameters, const LayerPass<T>& pass) const override;
  void AddSquaredNorms(const LayerPass<T>& pass, Eigen::ArrayXd* squared_norms) const override;
  void AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                           Parameters<T> gradient) const override;

 private:
  Eigen::Map<const Matrix<T>> Weights(const ConstParameters<T>& parameters) const;

  Eigen::Index inputs_;
  Eigen::Index outputs_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_FULLY_CONNECTED_H_
