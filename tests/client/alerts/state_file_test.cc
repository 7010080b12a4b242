#include "client/alerts/state_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace epsledger::alerts {
namespace {

using ::testing::HasSubstr;

class StateFileTest : public testing::Test {
 protected:
  StateFileTest()
      : folder_(testing::TempDir() + "/alerts-state." +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  const std::string folder_;
  const std::string path_ = folder_ + "/state.json";
};

TEST_F(StateFileTest, ReadsWhatWasWritten) {
  {
    const absl::StatusOr<StateFile> file = StateFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_FALSE((*file->Read()).has_value());
    ASSERT_TRUE(file->Write(nlohmann::ordered_json::parse(R"({"position": 1})")).ok());
    ASSERT_TRUE(file->Write(nlohmann::ordered_json::parse(R"({"position": 2})")).ok());
  }
  const absl::StatusOr<StateFile> file = StateFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((**file->Read())["position"], 2);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(StateFileTest, BelongsToOneProcess) {
  const absl::StatusOr<StateFile> file = StateFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::StatusOr<StateFile> second = StateFile::Open(path_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process"));
}

TEST_F(StateFileTest, SaysWhatIsWrong) {
  std::ofstream(path_) << "{\"cut";
  const absl::StatusOr<StateFile> file = StateFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(std::string(file->Read().status().message()), HasSubstr("state_file: " + path_));
  EXPECT_EQ(StateFile::Open(folder_ + "/nowhere/state.json").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace epsledger::alerts
