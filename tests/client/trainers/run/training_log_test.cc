#include "client/trainers/run/training_log.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace epsledger::trainers {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TrainingLogTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return testing::TempDir() + "/" +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "." + name;
  }
};

TEST_F(TrainingLogTest, WritesEveryRecordAsOneJsonLineAndTheStepsAsCsv) {
  absl::StatusOr<TrainingLog> log = TrainingLog::Open(Path("jsonl"), Path("csv"));
  ASSERT_TRUE(log.ok()) << log.status();
  log->Run({{"data", std::string("a9a")}, {"declared", true}});
  log->Step({{"step", int64_t{1}}, {"loss", 0.5}, {"note", std::string("a,\"b\"")}});
  log->Step({{"step", int64_t{2}},
             {"loss", std::numeric_limits<double>::infinity()},
             {"note", std::string()}});
  ASSERT_TRUE(log->Result({{"accuracy", std::numeric_limits<double>::quiet_NaN()}}).ok());
  EXPECT_EQ(ReadFile(Path("jsonl")),
            "{\"record\":\"run\",\"data\":\"a9a\",\"declared\":true}\n"
            "{\"record\":\"step\",\"step\":1,\"loss\":0.5,\"note\":\"a,\\\"b\\\"\"}\n"
            "{\"record\":\"step\",\"step\":2,\"loss\":\"Infinity\",\"note\":\"\"}\n"
            "{\"record\":\"result\",\"accuracy\":\"NaN\"}\n");
  EXPECT_EQ(ReadFile(Path("csv")), "step,loss,note\r\n1,0.5,\"a,\"\"b\"\"\"\r\n2,Infinity,\r\n");
}

TEST_F(TrainingLogTest, KeepsTheLogBeforeAndReplacesItWithTheFirstStep) {
  std::filesystem::remove(Path("jsonl.previous"));
  std::ofstream(Path("jsonl")) << "before\n";
  absl::StatusOr<TrainingLog> log = TrainingLog::Open(Path("jsonl"), "");
  ASSERT_TRUE(log.ok()) << log.status();
  log->Run({{"data", std::string("a9a")}});
  EXPECT_EQ(ReadFile(Path("jsonl")), "before\n");
  EXPECT_EQ(ReadFile(Path("jsonl.previous")), "");
  log->Step({{"step", int64_t{1}}});
  EXPECT_EQ(ReadFile(Path("jsonl.previous")), "before\n");
  EXPECT_EQ(ReadFile(Path("jsonl")),
            "{\"record\":\"run\",\"data\":\"a9a\"}\n{\"record\":\"step\",\"step\":1}\n");
}

TEST_F(TrainingLogTest, WithoutPathsWritesNothingAndIsFine) {
  absl::StatusOr<TrainingLog> log = TrainingLog::Open("", "");
  ASSERT_TRUE(log.ok());
  log->Step({{"step", int64_t{1}}});
  EXPECT_TRUE(log->Result({}).ok());
}

TEST_F(TrainingLogTest, NamesThePathThatCannotBeWritten) {
  const absl::StatusOr<TrainingLog> log = TrainingLog::Open("/nowhere/log.jsonl", "");
  EXPECT_EQ(log.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(log.status().message().find("/nowhere/log.jsonl"), std::string::npos);
}

TEST_F(TrainingLogTest, SaysThatTheLogIsNotWhole) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  absl::StatusOr<TrainingLog> log = TrainingLog::Open("/dev/full", "");
  ASSERT_TRUE(log.ok());
  log->Run({{"data", std::string("a9a")}});
  EXPECT_EQ(log->Result({}).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace epsledger::trainers
