#include "client/trainers/istdp/checkpoint.h"

#include <unistd.h>
#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace epsledger::trainers::istdp {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest()
      : path_(testing::TempDir() + "/istdp_checkpoint_test." + std::to_string(getpid())) {}
  ~CheckpointTest() override { std::remove(path_.c_str()); }

  static Checkpoint Example() {
    Eigen::VectorXd numbers(4);
    numbers << 0.1, -1e-300, 5e-324, 1.7976931348623157e308;
    return {.budget = "adult",
            .session = "run-1",
            .settings = "mode sound, data \"a9a\"",
            .noise_multiplier = 37.306000000000004,
            .state = {.step = 12,
                      .theta = numbers,
                      .previous_theta = 2 * numbers.head(4).cwiseMin(1),
                      .previous_gradient = -numbers,
                      .averaged = numbers / 3,
                      .step_size = 1.0 / 3}};
  }

  void WriteText(const std::string& text) { std::ofstream(path_) << text; }

  std::string path_;
};

TEST_F(CheckpointTest, IsReadBackBitForBit) {
  const Checkpoint written = Example();
  ASSERT_TRUE(WriteCheckpoint(path_, written).ok());
  const absl::StatusOr<Checkpoint> read = ReadCheckpoint(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->budget, written.budget);
  EXPECT_EQ(read->session, written.session);
  EXPECT_EQ(read->settings, written.settings);
  EXPECT_EQ(read->noise_multiplier, written.noise_multiplier);
  EXPECT_EQ(read->state.step, written.state.step);
  EXPECT_EQ(read->state.step_size, written.state.step_size);
  EXPECT_EQ(read->state.theta, written.state.theta);
  EXPECT_EQ(read->state.previous_theta, written.state.previous_theta);
  EXPECT_EQ(read->state.previous_gradient, written.state.previous_gradient);
  EXPECT_EQ(read->state.averaged, written.state.averaged);
}

TEST_F(CheckpointTest, ReplacesTheOneBeforeAndLeavesNothingBesideIt) {
  ASSERT_TRUE(WriteCheckpoint(path_, Example()).ok());
  Checkpoint later = Example();
  later.state.step = 13;
  ASSERT_TRUE(WriteCheckpoint(path_, later).ok());
  EXPECT_EQ(ReadCheckpoint(path_)->state.step, 13);
  EXPECT_NE(access((path_ + ".new").c_str(), F_OK), 0);
}

TEST_F(CheckpointTest, ThatIsNotThereOrNotOneIsAnErrorThatNamesTheField) {
  EXPECT_EQ(ReadCheckpoint(path_ + ".absent").status().code(), absl::StatusCode::kNotFound);
  for (const char* text : {"", "{", "[]", "null", "\xff\xfe"}) {
    WriteText(text);
    EXPECT_EQ(ReadCheckpoint(path_).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  ASSERT_TRUE(WriteCheckpoint(path_, Example()).ok());
  std::string good;
  std::getline(std::ifstream(path_), good);
  const std::pair<std::string, std::string> changes[] = {
      {"epsledger-istdp", "another"},       {"\"format\":1", "\"format\":2"},
      {"\"step\":12", "\"step\":0"},        {"\"step\":12", "\"step\":1.5"},
      {"\"theta\":[", "\"theta\":[\"x\","}, {"\"averaged\"", "\"mean\""}};
  for (const auto& [from, to] : changes) {
    std::string bad = good;
    ASSERT_NE(bad.find(from), std::string::npos) << from;
    bad.replace(bad.find(from), from.size(), to);
    WriteText(bad);
    const absl::Status status = ReadCheckpoint(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << to;
    EXPECT_NE(status.message().find(path_), std::string::npos);
  }
}

TEST_F(CheckpointTest, ThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(WriteCheckpoint("/no/such/folder/file", Example()).code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
