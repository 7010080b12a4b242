#include "client/trainers/fsdp/model_file.h"

#include <bit>
#include <cstdint>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Vector;

// Collects the header and the numbers of a file.
class TensorWriter {
 public:
  // `values` with the last index of `shape` fastest.
  void Add(const std::string& name, const std::vector<Eigen::Index>& shape,
           const Vector<float>& values) {
    const size_t begin = numbers_.size();
    for (const float value : values) PutLittleEndian(std::bit_cast<uint32_t>(value), 4, &numbers_);
    header_[name] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, numbers_.size()}}};
  }

  std::string Finish(const std::map<std::string, std::string>& metadata) {
    header_["__metadata__"] = metadata;
    std::string header = header_.dump();
    // The numbers start at a multiple of 8.
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string file;
    PutLittleEndian(header.size(), 8, &file);
    return file + header + numbers_;
  }

 private:
  static void PutLittleEndian(uint64_t value, int bytes, std::string* out) {
    for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }

  nlohmann::ordered_json header_ = nlohmann::ordered_json::object();
  std::string numbers_;
};

// The parameters of one layer, in the order that the layer's header file defines.
struct LayerTensors {
  const Vector<float>& parameters;
  const network::Shape& input;
  const std::string& prefix;
  TensorWriter& writer;

  void operator()(const network::FullyConnected& layer) const {
    const Eigen::Index inputs = input.size();
    const Matrix<float> by_output =
        Eigen::Map<const Matrix<float>>(parameters.data(), layer.outputs, inputs).transpose();
    writer.Add(prefix + "weight", {layer.outputs, inputs}, by_output.reshaped());
    writer.Add(prefix + "bias", {layer.outputs}, parameters.tail(layer.outputs));
  }
  void operator()(const network::Convolution& layer) const {
    writer.Add(prefix + "weight", {layer.channels, input.channels, layer.kernel, layer.kernel},
               parameters.head(parameters.size() - layer.channels));
    writer.Add(prefix + "bias", {layer.channels}, parameters.tail(layer.channels));
  }
  void operator()(const network::GroupNorm&) const {
    writer.Add(prefix + "weight", {input.channels}, parameters.head(input.channels));
    writer.Add(prefix + "bias", {input.channels}, parameters.tail(input.channels));
  }
  void operator()(const network::Tanh&) const {}
  void operator()(const network::Relu&) const {}
  void operator()(const network::AveragePool&) const {}
  void operator()(const network::MaxPool&) const {}
};

}  // namespace

absl::StatusOr<std::string> EncodeModel(const network::Network<float>& network,
                                        const Vector<float>& parameters, const ModelInputs& inputs,
                                        std::map<std::string, std::string> metadata) {
  if (parameters.size() != network.parameter_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameters: got ", parameters.size(), ", want ", network.parameter_count()));
  }
  if (!parameters.allFinite() || !inputs.center.allFinite()) {
    return absl::InvalidArgumentError("parameters: got a number that is not finite");
  }
  TensorWriter writer;
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    const auto segment = network.segment(layer);
    const Vector<float> of_layer = parameters.segment(segment.begin, segment.size);
    const std::string prefix = absl::StrCat(layer, ".");
    std::visit(LayerTensors{.parameters = of_layer,
                            .input = network.shape(layer),
                            .prefix = prefix,
                            .writer = writer},
               network.layers()[layer]);
  }
  if (inputs.basis.has_value()) {
    const Matrix<float>& directions = inputs.basis->directions;
    const Matrix<float> by_direction = directions.transpose();
    writer.Add("input.mean", {inputs.basis->mean.size()}, inputs.basis->mean);
    writer.Add("input.directions", {directions.rows(), directions.cols()}, by_direction.reshaped());
  }
  if (inputs.center.size() > 0) {
    writer.Add("input.center", {inputs.center.size()}, inputs.center);
  }
  metadata["network"] = network.description();
  return writer.Finish(metadata);
}

}  // namespace epsledger::trainers::fsdp
