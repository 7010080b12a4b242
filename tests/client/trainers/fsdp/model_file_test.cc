#include "client/trainers/fsdp/model_file.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Network;
using network::Shape;
using network::Vector;
using nlohmann::json;

struct ReadModel {
  json header;
  std::string numbers;

  std::vector<float> Tensor(const std::string& name) const {
    const auto offsets = header[name]["data_offsets"].get<std::vector<size_t>>();
    std::vector<float> values((offsets[1] - offsets[0]) / 4);
    std::memcpy(values.data(), numbers.data() + offsets[0], offsets[1] - offsets[0]);
    return values;
  }
};

ReadModel Read(const std::string& file) {
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), 8);  // little-endian, as the machines of the tests are
  EXPECT_EQ(header_bytes % 8, 0u);
  return {json::parse(file.substr(8, header_bytes)), file.substr(8 + header_bytes)};
}

Network<float> NetworkOf(const Shape& input, const std::vector<network::LayerOptions>& layers) {
  Network<float> made = *Network<float>::Create(input, layers);
  for (Eigen::Index i = 0; i < made.parameter_count(); ++i) {
    made.parameters()[i] = static_cast<float>(i + 1);
  }
  return made;
}

// Who reads the file computes the logits with row-major tensors and gets the network's.
TEST(ModelFile, HoldsTheWeightsOfAFullyConnectedLayerByOutput) {
  const Network<float> network =
      NetworkOf({.channels = 3}, {network::FullyConnected{.outputs = 2}, network::Tanh{},
                                  network::FullyConnected{.outputs = 2}});
  const ReadModel model =
      Read(*EncodeModel(network, network.parameters(), {}, {{"label", "proven"}}));
  EXPECT_EQ(model.header["__metadata__"],
            (json{{"label", "proven"}, {"network", network.description()}}));
  EXPECT_EQ(model.header["0.weight"]["dtype"], "F32");
  EXPECT_EQ(model.header["0.weight"]["shape"], (json{2, 3}));
  EXPECT_EQ(model.header["2.bias"]["shape"], json{2});
  EXPECT_EQ(model.header.size(), 5u);
  EXPECT_EQ(model.numbers.size(), 4u * static_cast<size_t>(network.parameter_count()));
  const std::vector<float> weight = model.Tensor("0.weight");
  const std::vector<float> bias = model.Tensor("0.bias");
  Matrix<float> sample(3, 1);
  sample << 0.25f, -0.5f, 0.125f;
  const auto tape = network.Forward(sample);
  ASSERT_TRUE(tape.ok());
  for (int output = 0; output < 2; ++output) {
    float want = bias[output];
    for (int input = 0; input < 3; ++input) want += weight[3 * output + input] * sample(input, 0);
    EXPECT_FLOAT_EQ(tape->activations[1](output, 0), want);
  }
}

TEST(ModelFile, HoldsFiltersAndNormsAndNothingOfLayersWithoutParameters) {
  const Network<float> network =
      NetworkOf({.channels = 2, .height = 4, .width = 4},
                {network::Convolution{.channels = 4, .kernel = 3}, network::GroupNorm{.groups = 2},
                 network::Relu{}, network::MaxPool{.window = 2, .stride = 2},
                 network::FullyConnected{.outputs = 3}});
  const ReadModel model = Read(*EncodeModel(network, network.parameters(), {}, {}));
  EXPECT_EQ(model.header["0.weight"]["shape"], (json{4, 2, 3, 3}));
  EXPECT_EQ(model.header["1.weight"]["shape"], json{4});
  EXPECT_EQ(model.header["4.weight"]["shape"], (json{3, 4}));
  EXPECT_EQ(model.header.size(), 7u);
  // Parameters are 1, 2, ...: 72 of filters, then the biases.
  EXPECT_EQ(model.Tensor("0.weight").front(), 1);
  EXPECT_EQ(model.Tensor("0.weight").back(), 72);
  EXPECT_EQ(model.Tensor("0.bias"), (std::vector<float>{73, 74, 75, 76}));
  EXPECT_EQ(model.Tensor("1.weight"), (std::vector<float>{77, 78, 79, 80}));
  EXPECT_EQ(model.Tensor("1.bias"), (std::vector<float>{81, 82, 83, 84}));
}

// input_scale * directions * (features - mean) - center, with row-major directions.
TEST(ModelFile, HoldsWhatMakesInputsOfFeatures) {
  const Network<float> network =
      NetworkOf({.channels = 2}, {network::FullyConnected{.outputs = 1}});
  PublicBasis basis{.mean = Vector<float>::LinSpaced(3, 1, 3), .directions = {}};
  basis.directions.resize(2, 3);
  basis.directions << 1, 2, 3, 4, 5, 6;
  const ReadModel model =
      Read(*EncodeModel(network, network.parameters(),
                        {.basis = basis, .center = Vector<float>::LinSpaced(2, 7, 8)}, {}));
  EXPECT_EQ(model.Tensor("input.mean"), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(model.header["input.directions"]["shape"], (json{2, 3}));
  EXPECT_EQ(model.Tensor("input.directions"), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(model.Tensor("input.center"), (std::vector<float>{7, 8}));
  EXPECT_EQ(model.Tensor("0.weight").size(), 2u);
}

TEST(ModelFile, RefusesWhatIsNoModelOfTheNetwork) {
  const Network<float> network =
      NetworkOf({.channels = 2}, {network::FullyConnected{.outputs = 1}});
  EXPECT_EQ(EncodeModel(network, Vector<float>::Zero(2), {}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  Vector<float> parameters = network.parameters();
  parameters[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(EncodeModel(network, parameters, {}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
