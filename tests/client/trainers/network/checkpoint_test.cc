#include "client/trainers/network/checkpoint.h"

#include "gtest/gtest.h"

#include <cstddef>
#include <limits>
#include <string>

#include "tests/client/trainers/network/sample_networks.h"

namespace epsledger::trainers::network {
namespace {

const NetworkShape kShape{{.channels = 3}, {FullyConnected{2}, Tanh{}}};

template <class T>
Checkpoint<T> MakeCheckpoint(const Network<T>& net) {
  return {.description = net.description(),
          .step = 0x0123456789abcdef,
          .parameters = net.parameters(),
          .velocity = RandomMatrix<T>(net.parameter_count(), 1, 12)};
}

template <class T>
void ExpectRoundTrip() {
  const Network<T> net = MakeNetwork<T>(kShape);
  const Checkpoint<T> checkpoint = MakeCheckpoint(net);
  const auto decoded = DecodeCheckpoint<T>(*EncodeCheckpoint(checkpoint), net);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->description, checkpoint.description);
  EXPECT_EQ(decoded->step, checkpoint.step);
  EXPECT_EQ(decoded->parameters, checkpoint.parameters);
  EXPECT_EQ(decoded->velocity, checkpoint.velocity);
}

TEST(Checkpoint, ComesBackBitForBit) {
  ExpectRoundTrip<float>();
  ExpectRoundTrip<double>();
}

TEST(Checkpoint, HasItsNumbersWhereTheHeaderSays) {
  const Network<float> net = *Network<float>::Create({.channels = 1}, {FullyConnected{1}});
  Checkpoint<float> checkpoint = MakeCheckpoint(net);
  checkpoint.step = 258;
  checkpoint.parameters << 1, -2;
  const std::string bytes = *EncodeCheckpoint(checkpoint);
  const std::string description = "1x1x1 fully_connected(1)";
  EXPECT_EQ(bytes.substr(0, 24), std::string("EPSLNETW\1\0\0\0\4\0\0\0\2\1\0\0\0\0\0\0", 24));
  EXPECT_EQ(bytes.substr(32, 24), description);
  EXPECT_EQ(bytes.substr(56, 16), std::string("\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0", 16));
  EXPECT_EQ(bytes.size(), 8u + 4 + 4 + 8 + 8 + 24 + 8 + 16 + 8);
}

TEST(DecodeCheckpoint, RefusesEveryTruncatedPrefix) {
  const Network<float> net = MakeNetwork<float>(kShape);
  const std::string bytes = *EncodeCheckpoint(MakeCheckpoint(net));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = DecodeCheckpoint<float>(bytes.substr(0, size), net);
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
  EXPECT_EQ(DecodeCheckpoint<float>(bytes + "x", net).status().message(),
            "checkpoint.end: got 1 bytes more, want none");
}

TEST(DecodeCheckpoint, RefusesEveryFlippedBit) {
  const Network<float> net = MakeNetwork<float>(kShape);
  const std::string bytes = *EncodeCheckpoint(MakeCheckpoint(net));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeCheckpoint<float>(flipped, net).ok()) << bit;
  }
}

TEST(DecodeCheckpoint, RefusesAnotherNetworkAndAnotherPrecision) {
  const Network<float> net = MakeNetwork<float>(kShape);
  const std::string bytes = *EncodeCheckpoint(MakeCheckpoint(net));
  const Network<float> other = MakeNetwork<float>({{.channels = 3}, {FullyConnected{2}, Relu{}}});
  EXPECT_EQ(DecodeCheckpoint<float>(bytes, other).status().message(),
            "checkpoint.description: got 3x1x1 fully_connected(2) tanh, want 3x1x1 "
            "fully_connected(2) relu");
  EXPECT_EQ(DecodeCheckpoint<double>(bytes, MakeNetwork<double>(kShape)).status().message(),
            "checkpoint.bytes a number: got 4, want 8");
  std::string newer = bytes;
  newer[8] = 2;
  EXPECT_EQ(DecodeCheckpoint<float>(newer, net).status().message(),
            "checkpoint.version: got 2, want 1");
}

TEST(EncodeCheckpoint, RefusesNumbersThatAreNotFinite) {
  const Network<float> net = MakeNetwork<float>(kShape);
  Checkpoint<float> checkpoint = MakeCheckpoint(net);
  checkpoint.parameters[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(EncodeCheckpoint(checkpoint).status().message(),
            "checkpoint.parameters: got NaN or infinity, want finite numbers");
  checkpoint = MakeCheckpoint(net);
  checkpoint.velocity[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(EncodeCheckpoint(checkpoint).status().message(),
            "checkpoint.velocity: got NaN or infinity, want finite numbers");
  checkpoint.velocity = Vector<float>::Zero(1);
  EXPECT_EQ(EncodeCheckpoint(checkpoint).status().message(),
            "checkpoint.velocity: got 1 numbers, want 8");
}

}  // namespace
}  // namespace epsledger::trainers::network
