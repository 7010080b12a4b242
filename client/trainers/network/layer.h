#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_H_

#include <Eigen/Core>
#include <memory>
#include <random>

#include "client/trainers/network/layer_options.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// The initial weights of a layer: uniform on +-limit, so that activations keep their size from
// layer to layer.
enum class Initialization {
  kXavier,   // limit = sqrt(6 / (fan in + fan out)) [GB10], for tanh and for logits
  kKaiming,  // limit = sqrt(6 / fan in) [HZRS15], for weights before a ReLU
};

template <class T>
using ConstParameters = Eigen::Ref<const Vector<T>>;
template <class T>
using Parameters = Eigen::Ref<Vector<T>>;

// The inputs and outputs of a layer in a pass, one column a sample in every matrix. The gradient in
// a column is that of the same sample's loss.
template <class T>
struct LayerPass {
  const Matrix<T>& inputs;
  const Matrix<T>& outputs;
  const Matrix<T>& output_gradients;
  // The result of SampleGradients; empty for a layer that keeps none.
  const Matrix<T>& sample_gradients;
};

// A differentiable map of one sample, applied to each column of a batch independently: column i of
// every result is a function of the parameters and column i of the arguments only. A NaN in one
// sample stays in that sample. Layers have no state: the network keeps the parameters (a segment of
// one flat vector) and the activations. Safe to use from many threads.
//
// The per-sample gradient of a layer is d loss_i / d parameters. Its norms and weighted sums have
// separate functions, so a layer need not store one gradient a sample. A layer that must form these
// gradients anyway does so once.
template <class T>
class Layer {
 public:
  virtual ~Layer() = default;

  virtual Eigen::Index parameter_count() const { return 0; }

  // Sets the parameters by draws from `random` only; the same on every platform.
  virtual void Initialize(Initialization, std::mt19937_64&, Parameters<T>) const {}

  virtual Matrix<T> Forward(ConstParameters<T> parameters, const Matrix<T>& inputs) const = 0;

  // Returns the gradients with respect to the inputs.
  virtual Matrix<T> InputGradients(ConstParameters<T> parameters,
                                   const LayerPass<T>& pass) const = 0;

  // Returns each sample's gradient in a column, or no columns if AddSquaredNorms and
  // AddWeightedGradient do not need them. The pass has no sample_gradients yet.
  virtual Matrix<T> SampleGradients(const LayerPass<T>&) const { return {}; }

  // Adds the squared Euclidean norm of each sample's gradient to `squared_norms`, in double
  // whatever T is. NaN or +inf where the gradient is not finite; also NaN where an input is not
  // finite, even if the gradient is zero.
  virtual void AddSquaredNorms(const LayerPass<T>&, Eigen::ArrayXd*) const {}

  // Adds sum_i weights[i] * (gradient of sample i) to `gradient`. The contribution of sample i, as
  // computed, is each entry of the gradient whose norm AddSquaredNorms computed, times weights[i],
  // with at most two more roundings: no cancellation within a sample can make it larger.
  // REQUIRES: one weight a sample; everything finite.
  virtual void AddWeightedGradient(const LayerPass<T>&, const Vector<T>&, Parameters<T>) const {}

  // Sets how many threads every call may use; initially 1. Changes no bit of a result.
  void set_thread_count(int thread_count) { thread_count_ = thread_count; }

 protected:
  int thread_count() const { return thread_count_; }

 private:
  int thread_count_ = 1;
};

// REQUIRES: OutputShape(options, input).ok().
template <class T>
std::unique_ptr<Layer<T>> MakeLayer(const LayerOptions& options, const Shape& input);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_H_
