#include "server/access_log/access_log.h"

#include <sys/stat.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger::access_log {
namespace {

using nlohmann::json;

constexpr char kCharge[] = "epsledger.v1.ChargeService.Charge";

CallRecord KnownCall() {
  return {.time = absl::FromUnixMicros(1'700'000'000'000'001),
          .method = kCharge,
          .door = core::Door::kHttp,
          .caller = {.tenant = {"acme"}, .role = core::Role::kTrainer, .principal = "tokens/t"},
          .client = "notebook/1",
          .peer = "192.0.2.7:50211",
          .resource = "budgets/b/sessions/s/attempts/1 step-1",
          .outcome = absl::StatusCode::kFailedPrecondition,
          .reason = "BUDGET_EXHAUSTED",
          .duration = absl::Microseconds(1'500),
          .request_id = "r-1",
          .traceparent = ""};
}

CallRecord Stranger() {
  CallRecord record = KnownCall();
  record.caller = {};
  return record;
}

class AccessLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<AccessLog> Open(int64_t sample = 1) {
    auto log = AccessLog::Open(path_, sample);
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
  static std::vector<json> LinesOf(const std::string& path) {
    std::vector<json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }

  const ScratchFolder folder_;
  const std::string path_ = folder_.path() + "/access.jsonl";
};

TEST(JsonLine, SaysWhoAskedForWhatAndWhatBecameOfIt) {
  EXPECT_EQ(json::parse(JsonLineOf(KnownCall())),
            json::parse(R"({"time": "2023-11-14T22:13:20.000001Z", "door": "HTTP",
                            "method": "epsledger.v1.ChargeService.Charge",
                            "outcome": "FAILED_PRECONDITION", "reason": "BUDGET_EXHAUSTED",
                            "resource": "budgets/b/sessions/s/attempts/1 step-1",
                            "tenant": "acme", "principal": "tokens/t", "role": "TRAINER",
                            "client": "notebook/1", "peer": "192.0.2.7:50211",
                            "requestId": "r-1", "seconds": 0.0015})"));
  EXPECT_FALSE(json::parse(JsonLineOf(Stranger())).contains("role"));
}

TEST(JsonLine, IsOneObjectOnOneLineWhateverItHolds) {
  for (const std::string& text :
       {std::string("a\"b\\c"), std::string("\n{\"principal\": \"tokens/other\"}\n"),
        std::string("\xff\xfe"), std::string("\0x", 2), std::string("\u00e9\u2028\x7f")}) {
    CallRecord record = KnownCall();
    record.client = record.resource = record.request_id = record.caller.principal = text;
    const std::string line = JsonLineOf(record);
    EXPECT_EQ(
        line.find_first_not_of(" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                               "abcdefghijklmnopqrstuvwxyz{|}~"),
        line.npos)
        << line;
    EXPECT_EQ(json::parse(line)["method"], kCharge);
  }
  CallRecord record = KnownCall();
  record.client = "\u00e9";
  EXPECT_EQ(json::parse(JsonLineOf(record))["client"], "\u00e9");
}

TEST_F(AccessLogTest, HoldsEveryCallInOrderForItsOwnerAlone) {
  {
    const auto log = Open();
    for (int i = 0; i < 3'000; ++i) {
      CallRecord record = KnownCall();
      record.request_id = std::to_string(i);
      log->Add(std::move(record));
    }
  }
  const std::vector<json> lines = LinesOf(path_);
  ASSERT_EQ(lines.size(), 3'000u);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i]["requestId"], std::to_string(i));
  struct stat file {};
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  { Open()->Add(KnownCall()); }
  EXPECT_EQ(LinesOf(path_).size(), 3'001u);  // appended to
}

TEST_F(AccessLogTest, SamplesAcceptedChargesAndNothingElse) {
  const auto log = Open(10);
  int wanted = 0;
  for (int i = 0; i < 100; ++i) wanted += log->Wants(kCharge, absl::StatusCode::kOk);
  EXPECT_EQ(wanted, 10);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(log->Wants(kCharge, absl::StatusCode::kFailedPrecondition));
    EXPECT_TRUE(log->Wants(kCharge, absl::StatusCode::kPermissionDenied));
    EXPECT_TRUE(log->Wants("epsledger.v1.BudgetService.FreezeBudget", absl::StatusCode::kOk));
    EXPECT_TRUE(log->Wants("epsledger.v1.BudgetService.GetBudget", absl::StatusCode::kOk));
  }
}

TEST_F(AccessLogTest, StrangersFillNoDiskAndHideNobody) {
  constexpr int kStrangers = 20'000;
  {
    const auto log = Open();
    for (int i = 0; i < kStrangers; ++i) log->Add(Stranger());
    log->Add(KnownCall());
  }
  int64_t lost = 0;
  int known = 0;
  int strangers = 0;
  for (const json& line : LinesOf(path_)) {
    lost += line.value("lost", int64_t{0});
    if (line.contains("method")) ++(line.contains("principal") ? known : strangers);
  }
  EXPECT_EQ(known, 1);
  EXPECT_EQ(strangers + lost, kStrangers);
  EXPECT_GE(strangers, static_cast<int>(AccessLog::kMaxStrangerLines));
  EXPECT_LT(strangers, kStrangers / 2);
}

TEST_F(AccessLogTest, GoesOnInANewFileOnceTheOldOneIsMoved) {
  const std::string moved = path_ + ".1";
  {
    const auto log = Open();
    std::filesystem::rename(path_, moved);
    log->Add(KnownCall());
  }
  EXPECT_EQ(LinesOf(moved).size(), 0u);
  EXPECT_EQ(LinesOf(path_).size(), 1u);
}

TEST_F(AccessLogTest, StartsALineAfterOneThatIsCut) {
  { Open()->Add(KnownCall()); }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 5);  // as by kill -9
  { Open()->Add(KnownCall()); }
  { Open()->Add(KnownCall()); }
  std::ifstream file(path_);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FALSE(json::accept(lines[0]));
  EXPECT_EQ(json::parse(lines[1])["method"], kCharge);
  EXPECT_EQ(json::parse(lines[2])["method"], kCharge);
}

TEST_F(AccessLogTest, AFileThatCannotBeOpenedIsAnError) {
  const auto log = AccessLog::Open(folder_.path() + "/none/access.jsonl", 1);
  EXPECT_EQ(log.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(log.status().message()), ::testing::HasSubstr("--access-log"));
}

}  // namespace
}  // namespace epsledger::access_log
