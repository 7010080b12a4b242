#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_NETWORK_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_NETWORK_H_

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/network/layer.h"
#include "client/trainers/network/layer_options.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// The intermediate results of one batch in a network of n layers, one column a sample in every
// matrix.
template <class T>
struct Tape {
  // n + 1 matrices: the batch, then the output of each layer. activations[l] is the input of layer
  // l.
  std::vector<Matrix<T>> activations;
  // n + 1 matrices after Backward: gradients[l] is d loss_i / d activations[l], so that layer l has
  // input activations[l] and output gradient gradients[l + 1]. gradients[0] is empty unless
  // requested.
  std::vector<Matrix<T>> gradients;
  // n matrices after Backward: for a layer that must form each sample's parameter gradient (a
  // convolution), these gradients, so that norms and sums need not form them again; else empty.
  std::vector<Matrix<T>> sample_gradients;
};

enum class BatchGradient { kSkip, kCompute };

// A chain of layers and the parameters of all of them in one flat vector.
//
// Invariants:
// 1. Each sample of a batch is computed independently: its activations, gradients and squared norm
//    do not depend on the other samples (except for the rounding of sums whose order depends on the
//    batch's size), and a NaN in a sample stays in that sample.
// 2. Nothing here gives privacy: activations, gradients and norms are exact functions of records.
//
// Const functions are safe to call from many threads.
template <class T>
class Network {
 public:
  // INVALID_ARGUMENT that names the field ("layers[2].kernel: got 9, want ...") unless every layer
  // fits the output of the previous one, there is at least one layer, and there are at most 2^28
  // parameters. All parameters are zero until Initialize.
  static absl::StatusOr<Network> Create(const Shape& input,
                                        const std::vector<LayerOptions>& layers);

  // Draws all parameters from `seed`: weights before a ReLU, with only group norm or pools between,
  // by kKaiming, other weights by kXavier. Biases are 0; group norm has weights 1 and biases 0. The
  // same seed gives the same parameters on every platform. The seed of an initialization need not
  // be secret.
  void Initialize(uint64_t seed);

  // Sets how many threads each function may start; 1 unless set. Changes no bit of any result.
  // INVALID_ARGUMENT unless it is in [1, 256].
  absl::Status set_thread_count(int thread_count);

  Eigen::Index parameter_count() const { return parameters_.size(); }
  const Vector<T>& parameters() const { return parameters_; }
  // REQUIRES: the caller does not change the size.
  Vector<T>& parameters() { return parameters_; }

  // The position of a layer's parameters in the flat vector; fully_connected.h, convolution.h and
  // group_norm.h define their order.
  struct Segment {
    Eigen::Index begin = 0;
    Eigen::Index size = 0;
  };
  Eigen::Index layer_count() const { return static_cast<Eigen::Index>(layers_.size()); }
  const std::vector<LayerOptions>& layers() const { return options_; }
  Segment segment(Eigen::Index layer) const { return segments_[layer]; }
  // shape(0) is that of the input, shape(l + 1) that of the output of layer l.
  const Shape& shape(Eigen::Index index) const { return shapes_[index]; }
  // As Describe() of layer_options.h.
  std::string description() const { return Describe(shapes_.front(), options_); }

  // Runs the batch, with one column a sample (zero columns are allowed), and starts the tape. The
  // logits are tape.activations.back(). INVALID_ARGUMENT unless batch.rows() is the input's size.
  absl::StatusOr<Tape<T>> Forward(Matrix<T> batch) const;

  // Completes the tape with the gradients of each sample's own loss, given its gradients with
  // respect to the output. INVALID_ARGUMENT unless these have the shape of the output on the tape.
  absl::Status Backward(Matrix<T> output_gradients, Tape<T>* tape,
                        BatchGradient batch_gradient = BatchGradient::kSkip) const;

  // Returns ||d loss_i / d parameters||^2 of every sample, summed in double. NaN or +inf where the
  // gradient is not finite. Forms no gradient of a fully connected layer; reads the convolutions'
  // gradients from the tape. REQUIRES: a tape of this network after Backward.
  Eigen::ArrayXd SquaredNorms(const Tape<T>& tape) const;
  // The same for one layer.
  Eigen::ArrayXd LayerSquaredNorms(const Tape<T>& tape, Eigen::Index layer) const;

  // Returns d loss_i / d parameters of `layer`, a column a sample, each computed on its own.
  // O(samples x segment(layer).size) of memory: meant for layers whose gradients have no cheaper
  // form. REQUIRES: a tape of this network after Backward.
  Matrix<T> SampleGradients(const Tape<T>& tape, Eigen::Index layer) const;

  // Returns sum_i weights[i] * d loss_i / d parameters. A sample with weight 0 contributes exactly
  // nothing, whatever it contains. Where ||weights[i] * gradient|| <= C by SquaredNorms and T is
  // float, the contribution of sample i as computed has norm at most C (1 + 4 u), with u the unit
  // roundoff; only the addition over samples adds further rounding. INVALID_ARGUMENT unless there
  // is one finite weight a sample. REQUIRES: a tape of this network after Backward; weight 0 where
  // the squared norm is not finite, as ClipFactors gives it.
  absl::StatusOr<Vector<T>> WeightedGradient(const Tape<T>& tape, const Vector<T>& weights) const;

 private:
  Network() = default;

  LayerPass<T> Pass(const Tape<T>& tape, Eigen::Index layer) const;
  ConstParameters<T> LayerParameters(Eigen::Index layer) const;
  Initialization InitializationOf(Eigen::Index layer) const;

  std::vector<LayerOptions> options_;
  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<Shape> shapes_;
  std::vector<Segment> segments_;
  Vector<T> parameters_;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_NETWORK_H_
