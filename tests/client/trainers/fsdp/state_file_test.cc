#include "client/trainers/fsdp/state_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <limits>
#include <string>

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
