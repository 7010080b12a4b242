#include "client/trainers/network/layer_options.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

#include "client/trainers/network/network.h"

namespace epsledger::trainers::network {
namespace {

TEST(OutputShape, CountsTheWindowsInsideThePaddedImage) {
  const Shape input{.channels = 3, .height = 8, .width = 9};
  EXPECT_EQ(*OutputShape(Convolution{.channels = 5, .kernel = 3}, input), (Shape{5, 6, 7}));
  EXPECT_EQ(*OutputShape(Convolution{.channels = 5, .kernel = 3, .stride = 2, .padding = 1}, input),
            (Shape{5, 4, 5}));
  EXPECT_EQ(*OutputShape(Convolution{.channels = 1, .kernel = 10, .padding = 1}, input),
            (Shape{1, 1, 2}));
  EXPECT_EQ(*OutputShape(MaxPool{.window = 2, .stride = 2}, input), (Shape{3, 4, 4}));
  EXPECT_EQ(*OutputShape(AveragePool{.window = 3, .stride = 1}, input), (Shape{3, 6, 7}));
  EXPECT_EQ(*OutputShape(FullyConnected{.outputs = 4}, input), (Shape{4, 1, 1}));
  EXPECT_EQ(*OutputShape(GroupNorm{.groups = 3}, input), input);
  EXPECT_EQ(*OutputShape(Tanh{}, input), input);
  EXPECT_EQ(*OutputShape(Relu{}, input), input);
}

struct RefusedLayer {
  LayerOptions layer;
  std::string message;
};

TEST(Create, RefusesALayerThatDoesNotFitAndNamesTheField) {
  const std::vector<RefusedLayer> cases = {
      {FullyConnected{.outputs = 0}, "layers[1].outputs: got 0, want an integer in [1, 32768]"},
      {Convolution{.channels = -1, .kernel = 1},
       "layers[1].channels: got -1, want an integer in [1, 32768]"},
      {Convolution{.channels = 1, .kernel = 7},
       "layers[1].kernel: got 7, want an integer in [1, 6]"},
      {Convolution{.channels = 1, .kernel = 1, .stride = 0},
       "layers[1].stride: got 0, want an integer in [1, 32768]"},
      {Convolution{.channels = 1, .kernel = 1, .padding = -1},
       "layers[1].padding: got -1, want an integer in [0, 32768]"},
      {Convolution{.channels = 32768, .kernel = 1, .padding = 50},
       "layers[1].output size: got 371654656, want an integer in [1, 16777216]"},
      {MaxPool{.window = 7, .stride = 1}, "layers[1].window: got 7, want an integer in [1, 6]"},
      {AveragePool{.window = 2, .stride = 0},
       "layers[1].stride: got 0, want an integer in [1, 32768]"},
      {GroupNorm{.groups = 3}, "layers[1].groups: got 3, want a divisor of the 4 channels"},
      {GroupNorm{.groups = 5}, "layers[1].groups: got 5, want an integer in [1, 4]"},
      {GroupNorm{.groups = 2, .variance_offset = 0},
       "layers[1].variance_offset: got 0, want a number in [1e-30, 1e30]"},
  };
  for (const RefusedLayer& c : cases) {
    const auto created =
        Network<float>::Create({.channels = 4, .height = 6, .width = 7}, {Tanh{}, c.layer, Relu{}});
    EXPECT_EQ(created.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(created.status().message()), c.message);
  }
}

TEST(Create, RefusesNoLayersAnEmptyInputAndTooManyParameters) {
  EXPECT_EQ(Network<float>::Create({.channels = 4}, {}).status().message(),
            "layers: got none, want at least one");
  EXPECT_EQ(Network<float>::Create({.channels = 4, .height = 0}, {Tanh{}}).status().message(),
            "input.height: got 0, want an integer in [1, 32768]");
  EXPECT_EQ(Network<float>::Create({.channels = 4, .height = 4096, .width = 1024},
                                   {FullyConnected{.outputs = 100}})
                .status()
                .message(),
            "layers: got 1677721700 parameters, want at most 268435456");
}

TEST(Describe, TellsNetworksApart) {
  const Shape input{.channels = 4, .height = 6, .width = 6};
  EXPECT_EQ(Describe(input, {Convolution{8, 3, 2, 1}, GroupNorm{.groups = 4}, Tanh{},
                             AveragePool{2, 1}, Relu{}, MaxPool{2, 2}, FullyConnected{10}}),
            "4x6x6 convolution(8,3,2,1) group_norm(4,1.0000000000000001e-05) tanh "
            "average_pool(2,1) relu max_pool(2,2) fully_connected(10)");
  EXPECT_NE(Describe(input, {GroupNorm{.groups = 2, .variance_offset = 1e-5}}),
            Describe(input, {GroupNorm{.groups = 2, .variance_offset = 1.0000001e-5}}));
}

TEST(ParseLayers, ReadsWhatDescribeWrites) {
  const Shape input{.channels = 4, .height = 6, .width = 6};
  const std::string text =
      "convolution(8,3,2,1) group_norm(4,1.0000000000000001e-05) tanh average_pool(2,1) relu "
      "max_pool(2,2) fully_connected(10)";
  const auto layers = ParseLayers(text);
  ASSERT_TRUE(layers.ok()) << layers.status();
  EXPECT_EQ(Describe(input, *layers), "4x6x6 " + text);
  const auto shorter = ParseLayers(" convolution(8,3)  group_norm(4) max_pool(2) average_pool(3) ");
  ASSERT_TRUE(shorter.ok()) << shorter.status();
  EXPECT_EQ(Describe(input, *shorter),
            "4x6x6 convolution(8,3,1,0) group_norm(4,1.0000000000000001e-05) max_pool(2,2) "
            "average_pool(3,3)");
  EXPECT_TRUE(ParseLayers("")->empty());
}

TEST(ParseLayers, NamesTheLayerThatIsNone) {
  for (const std::string wrong :
       {"resnet", "tanh()", "relu(1)", "convolution", "convolution(1)", "convolution(1,2,3,4,5)",
        "fully_connected(3", "fully_connected(x)", "fully_connected()", "max_pool(1,2,3)",
        "group_norm(inf)", "(2)"}) {
    const absl::Status status = ParseLayers("tanh " + wrong).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_EQ(status.message().find("layer: got \"" + wrong + "\", want tanh, relu"), 0u)
        << status.message();
  }
  // What is no dimension is refused where the dimensions are known.
  for (const char* wrong : {"fully_connected(2.5)", "fully_connected(-1)", "max_pool(1e300)"}) {
    const auto layers = ParseLayers(wrong);
    ASSERT_TRUE(layers.ok()) << layers.status();
    EXPECT_EQ(
        OutputShape(layers->front(), {.channels = 1, .height = 4, .width = 4}).status().code(),
        absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace epsledger::trainers::network
