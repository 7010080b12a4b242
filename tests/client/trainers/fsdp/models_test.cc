#include "client/trainers/fsdp/models.h"

#include "gtest/gtest.h"

#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {
namespace {

Eigen::Index Parameters(const std::string& model) {
  const auto layers = ModelLayers(model, 10);
  if (!layers.ok()) return -1;
  const auto network =
      network::Network<float>::Create({.channels = 1, .height = 28, .width = 28}, *layers);
  return network.ok() ? network->parameter_count() : -1;
}

TEST(ModelLayers, HaveTheParametersTheirNamesSay) {
  EXPECT_EQ(Parameters("linear"), 7850);
  EXPECT_EQ(Parameters("mlp:64"), 785 * 64 + 65 * 10);
  EXPECT_EQ(Parameters("mlp:32,16"), 785 * 32 + 33 * 16 + 17 * 10);
  EXPECT_EQ(Parameters("cnn"), 26010);
  EXPECT_EQ(Parameters("paper"), 4200106);
  // 16 5x5 kernels and biases, a weight and a bias of 16 channels, 16 x 12 x 12 to 32, 32 to 10.
  EXPECT_EQ(Parameters("convolution(16,5) group_norm(4) relu average_pool(2) fully_connected(32)"),
            16 * 26 + 32 + (16 * 144 + 1) * 32 + 33 * 10);
}

TEST(ModelLayers, OtherNamesAreRefused) {
  for (const char* name : {"", "mlp", "mlp:", "mlp:0", "mlp:-3", "mlp:a", "mlp:8,", "resnet",
                           "convolution(16,5) resnet"}) {
    EXPECT_EQ(ModelLayers(name, 10).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
