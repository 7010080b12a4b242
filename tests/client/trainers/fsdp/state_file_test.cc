#include "client/trainers/fsdp/state_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <limits>
#include <string>

#include "client/trainers/network/byte_fields.h"
#include "tests/client/trainers/fsdp/small_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Network;

const RunIdentity kRun{
    .budget = "digits", .session = "run-1", .settings = "clip 1", .noise_multiplier = 1.25};

class StateFileTest : public testing::Test {
 protected:
  StateFileTest() {
    options_.max_steps = 4;
    options_.noise_multiplier = 1;
    options_.expected_batch_size = 50;
    options_.subspace = SubspaceKind::kHistory;
    options_.relevance = RelevanceKind::kHistory;
    options_.rank = 4;
    options_.average_decay = 0.9;
    options_.quantile = QuantileClipping{.indicator_noise = 5};
  }

  TrainingState Train(TrainingState state, uint64_t seed) {
    SeededGaussianRelease release(seed, 1);
    return TrainSound(
               network_, records_, options_, std::move(state),
               [&]() -> absl::StatusOr<std::vector<int>> { return All(records_); }, release)
        ->state;
  }

  LabeledColumns records_ = Blobs(50, 20, 5, 1);
  Network<float> network_ = SmallMlp(20, 16, 5);
  TrainingOptions options_;
};

TEST_F(StateFileTest, TrainingGoesOnFromTheFileAsItWouldHaveWithout) {
  const TrainingState half = Train(InitialState(network_, options_), 1);
  const std::string path = testing::TempDir() + "/fsdp_state";
  ASSERT_TRUE(WriteStateFile(path, network_, kRun, half).ok());
  absl::StatusOr<SavedRun> saved = ReadStateFile(path, network_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->identity.budget, "digits");
  EXPECT_EQ(saved->identity.session, "run-1");
  EXPECT_EQ(saved->identity.settings, "clip 1");
  EXPECT_EQ(saved->identity.noise_multiplier, 1.25);
  const TrainingState* const kept = &saved->state;
  EXPECT_EQ(kept->step, 4);
  options_.max_steps = 8;
  const TrainingState direct = Train(half, 2);
  const TrainingState resumed = Train(*kept, 2);
  EXPECT_EQ(direct.step, 8);
  EXPECT_EQ(resumed.parameters, direct.parameters);
  EXPECT_EQ(resumed.average, direct.average);
  EXPECT_EQ(resumed.subspaces[0], direct.subspaces[0]);
  EXPECT_EQ(resumed.residual_clip, direct.residual_clip);
}

TEST_F(StateFileTest, CutOrFlippedBytesAreRefused) {
  const std::string bytes =
      *EncodeState(network_, kRun, Train(InitialState(network_, options_), 1));
  ASSERT_TRUE(DecodeState(bytes, network_).ok());
  for (size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 300) {
    EXPECT_EQ(DecodeState(absl::string_view(bytes).substr(0, i), network_).status().code(),
              absl::StatusCode::kInvalidArgument)
        << i;
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    EXPECT_EQ(DecodeState(flipped, network_).status().code(), absl::StatusCode::kInvalidArgument)
        << i;
  }
  EXPECT_THAT(std::string(DecodeState(bytes + "x", network_).status().message()),
              testing::HasSubstr("bytes more"));
}

TEST_F(StateFileTest, TheCenterOfTheInputsIsKeptAlsoBeforeTheFirstStep) {
  TrainingState state = InitialState(network_, options_);
  state.center = network::Vector<float>::LinSpaced(20, -1, 0.7F);
  const absl::StatusOr<SavedRun> saved = DecodeState(*EncodeState(network_, kRun, state), network_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->state.center, state.center);
  EXPECT_EQ(saved->state.step, 0);
  state.center.conservativeResize(19);
  EXPECT_THAT(
      std::string(DecodeState(*EncodeState(network_, kRun, state), network_).status().message()),
      testing::HasSubstr("state.center: got 19 x 1, want 20 x 1, or none"));
  state.center[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(EncodeState(network_, kRun, state).ok());
}

// What releases before the center wrote: version 3, without its field.
TEST_F(StateFileTest, AFileOfVersionThreeIsReadWithoutACenter) {
  TrainingState state = Train(InitialState(network_, options_), 1);
  const std::string bytes = *EncodeState(network_, kRun, state);
  TrainingState other = state;
  other.center = network::Vector<float>::Ones(20);
  const std::string with_center = *EncodeState(network_, kRun, other);
  size_t center = 0;  // the field's first byte: 0 rows, or 20
  while (bytes[center] == with_center[center]) ++center;
  std::string old = bytes.substr(0, center) + bytes.substr(center + 16);
  old[8] = 3;
  old.resize(old.size() - 8);
  uint64_t checksum = network::Fnv1a(old);
  for (int byte = 0; byte < 8; ++byte, checksum >>= 8) {
    old.push_back(static_cast<char>(checksum & 0xff));
  }
  const absl::StatusOr<SavedRun> saved = DecodeState(old, network_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->identity.settings, "clip 1");
  EXPECT_EQ(saved->state.parameters, state.parameters);
  EXPECT_EQ(saved->state.average, state.average);
  EXPECT_EQ(saved->state.histories.back().mean(), state.histories.back().mean());
  EXPECT_EQ(saved->state.center.size(), 0);
  old[8] = 2;
  EXPECT_THAT(std::string(DecodeState(old, network_).status().message()),
              testing::HasSubstr("state.version: got 2, want 3 or 4"));
}

TEST_F(StateFileTest, AnotherNetworkIsRefused) {
  const std::string bytes =
      *EncodeState(network_, kRun, Train(InitialState(network_, options_), 1));
  EXPECT_EQ(DecodeState(bytes, SmallMlp(20, 15, 5)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(StateFileTest, NumbersThatAreNotFiniteAreNotWritten) {
  TrainingState state = Train(InitialState(network_, options_), 1);
  state.residual_clip = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(EncodeState(network_, kRun, state).ok());
}

TEST_F(StateFileTest, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadStateFile(testing::TempDir() + "/no_such_state", network_).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
