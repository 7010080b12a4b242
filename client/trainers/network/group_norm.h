#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_GROUP_NORM_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_GROUP_NORM_H_

#include "client/trainers/network/layer.h"

namespace epsledger::trainers::network {

// output[c] = weight[c] n[c] + bias[c], n = (input - mean) / sqrt(variance + variance_offset) with
// the mean and the variance (divided by the count) of the channel's group in the same sample.
// Parameters: a weight a channel (initially 1), then a bias a channel (initially 0).
template <class T>
class GroupNormLayer : public Layer<T> {
 public:
  GroupNormLayer(const GroupNorm& options, const Shape& input);

  Eigen::Index parameter_count() const override { return 2 * shape_.channels; }
  void Initialize(Initialization, std::mt19937_64&, Parameters<T> parameters) const override;
  Matrix<T> Forward(ConstParameters<T> parameters, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T> parameters, const LayerPass<T>& pass) const override;
  void AddSquaredNorms(const LayerPass<T>& pass, Eigen::ArrayXd* squared_norms) const override;
  void AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                           Parameters<T> gradient) const override;

 private:
  // One sample, a column a channel.
  struct Normalized {
    Matrix<T> values;
    Vector<T> inverse_deviations;  // one a group
  };
  Normalized Normalize(const T* sample) const;
  Eigen::Map<const Matrix<T>> Channels(const T* sample) const;
  // The result is bit for bit the same at every position of sample i in the batch.
  Vector<T> SampleGradient(const LayerPass<T>& pass, Eigen::Index i) const;

  GroupNorm options_;
  Shape shape_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_GROUP_NORM_H_
