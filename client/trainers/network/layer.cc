#include "client/trainers/network/layer.h"

#include "client/trainers/network/activation.h"
#include "client/trainers/network/convolution.h"
#include "client/trainers/network/fully_connected.h"
#include "client/trainers/network/group_norm.h"
#include "client/trainers/network/pooling.h"

namespace epsledger::trainers::network {
namespace {

template <class T>
struct LayerOf {
  const Shape& input;

  std::unique_ptr<Layer<T>> operator()(const FullyConnected& options) const {
    return std::make_unique<FullyConnectedLayer<T>>(options, input);
  }
  std::unique_ptr<Layer<T>> operator()(const Convolution& options) const {
    return std::make_unique<ConvolutionLayer<T>>(options, input);
  }
  std::unique_ptr<Layer<T>> operator()(const Tanh&) const {
    return std::make_unique<TanhLayer<T>>();
  }
  std::unique_ptr<Layer<T>> operator()(const Relu&) const {
    return std::make_unique<ReluLayer<T>>();
  }
  std::unique_ptr<Layer<T>> operator()(const AveragePool& options) const {
    return std::make_unique<AveragePoolLayer<T>>(options, input);
  }
  std::unique_ptr<Layer<T>> operator()(const MaxPool& options) const {
    return std::make_unique<MaxPoolLayer<T>>(options, input);
  }
  std::unique_ptr<Layer<T>> operator()(const GroupNorm& options) const {
    return std::make_unique<GroupNormLayer<T>>(options, input);
  }
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> MakeLayer(const LayerOptions& options, const Shape& input) {
  return std::visit(LayerOf<T>{.input = input}, options);
}

template std::unique_ptr<Layer<float>> MakeLayer<float>(const LayerOptions&, const Shape&);
template std::unique_ptr<Layer<double>> MakeLayer<double>(const LayerOptions&, const Shape&);

}  // namespace epsledger::trainers::network
