#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_CONVOLUTION_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_CONVOLUTION_H_

#include "client/trainers/network/layer.h"

namespace epsledger::trainers::network {

// output[c](y, x) = b[c] + sum_{k, i, j} W[c, k](i, j) input[k](y s + i - p, x s + j - p), input 0
// outside the image. Parameters: one filter after the other, each (channel, row, column) with the
// column fastest, then b.
//
// The image of each sample is unrolled to a matrix of positions x filter entries, and every pass is
// one product with this matrix. Each sample's gradient is formed explicitly, once, and kept for the
// norms and the sum: parameter_count() numbers a sample.
template <class T>
class ConvolutionLayer : public Layer<T> {
 public:
  ConvolutionLayer(const Convolution& options, const Shape& input);

  Eigen::Index parameter_count() const override { return output_.channels * (filter_size() + 1); }
  void Initialize(Initialization initialization, std::mt19937_64& random,
                  Parameters<T> parameters) const override;
  Matrix<T> Forward(ConstParameters<T> parameters, const Matrix<T>& inputs) const override;
  Matrix<T> InputGradients(ConstParameters<T> parameters, const LayerPass<T>& pass) const override;
  Matrix<T> SampleGradients(const LayerPass<T>& pass) const override;
  void AddSquaredNorms(const LayerPass<T>& pass, Eigen::ArrayXd* squared_norms) const override;
  void AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                           Parameters<T> gradient) const override;

 private:
  Eigen::Index filter_size() const { return input_.channels * options_.kernel * options_.kernel; }
  Eigen::Map<const Matrix<T>> Filters(const ConstParameters<T>& parameters) const;
  // Unrolls one sample; *patches becomes positions x filter_size().
  void Unroll(const T* sample, Matrix<T>* patches) const;
  // Adds each entry of `patches` to the pixel that Unroll takes it from.
  void AddRolled(const Matrix<T>& patches, T* sample) const;

  Convolution options_;
  Shape input_;
  Shape output_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_CONVOLUTION_H_
