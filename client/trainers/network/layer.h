#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_H_

#include <Eigen/Core>
#include <memory>
#include <random>

#include "client/trainers/network/layer_options.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// How the weights of a layer start: uniform on +-limit, so that activations keep their size from
// layer to layer.
enum class Initialization {
  kXavier,   // limit = sqrt(6 / (fan in + fan out)) [GB10], for tanh and for logits
  kKaiming,  // limit = sqrt(6 / fan in) [HZRS15], for weights before a ReLU
};

template <class T>
using ConstParameters = Eigen::Ref<const Vector<T>>;
template <class T>
using Parameters = Eigen::Ref<Vector<T>>;

// What a layer saw and gave, one column a sample in all of them. The gradient of a column is that
// of the same sample's loss.
template <class T>
struct LayerPass {
  const Matrix<T>& inputs;
  const Matrix<T>& outputs;
  const Matrix<T>& output_gradients;
  // What SampleGradients gave; empty for a layer that keeps none.
  const Matrix<T>& sample_gradients;
};

// A differentiable map of one sample, applied to each column of a batch on its own: column i of
// every result is a function of the parameters and column i of the arguments only. A NaN in one
// sample stays in that sample. Layers have no state: the network keeps the parameters (a segment
// of one flat vector) and the activations. Safe to use from many threads.
//
// The per-sample gradient of a layer is d loss_i / d parameters. It is asked for in two ways, so
// that a layer need not store one gradient a sample; one that must form them anyway does it once.
template <class T>
class Layer {
 public:
  virtual ~Layer() = default;

  virtual Eigen::Index parameter_count() const { return 0; }

  // Sets the parameters, drawing from `random` alone; the same on every platform.
  virtual void Initialize(Initialization, std::mt19937_64&, Parameters<T>) const {}

  virtual Matrix<T> Forward(ConstParameters<T> parameters, const Matrix<T>& inputs) const = 0;

  // Returns the gradients with respect to the inputs.
  virtual Matrix<T> InputGradients(ConstParameters<T> parameters,
                                   const LayerPass<T>& pass) const = 0;

  // Returns each sample's gradient in a column, or no columns where AddSquaredNorms and
  // AddWeightedGradient do without. The pass has no sample_gradients yet.
  virtual Matrix<T> SampleGradients(const LayerPass<T>&) const { return {}; }

  // Adds the squared Euclidean norm of each sample's gradient to `squared_norms`, in double
  // whatever T is. NaN or +inf where the gradient is not finite; also NaN where an input is not
  // finite, though the gradient be zero.
  virtual void AddSquaredNorms(const LayerPass<T>&, Eigen::ArrayXd*) const {}

  // Adds sum_i weights[i] * (gradient of sample i) to `gradient`. What sample i adds, as computed,
  // is each entry of the gradient whose norm AddSquaredNorms computed, times weights[i], with at
  // most two roundings more: no cancellation within a sample can make it larger.
  // REQUIRES: one weight a sample; everything finite.
  virtual void AddWeightedGradient(const LayerPass<T>&, const Vector<T>&, Parameters<T>) const {}

  // How many threads every call may use, 1 at first. Changes no bit of a result.
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
