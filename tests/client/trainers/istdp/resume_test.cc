// Real processes, killed in the middle of training: nothing is released that was not charged.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "client/trainers/istdp/checkpoint.h"
#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"
#include "tests/client/trainers/istdp/trainer_process.h"
#include "tests/end_to_end/server_process.h"

namespace epsledger::trainers::istdp {
namespace {

class ResumeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/istdp_resume.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    WriteRecords();
    std::filesystem::create_directory(folder_ + "/ledger");
    server_ = std::make_unique<ServerProcess>(folder_ + "/ledger");
    ASSERT_NE(server_->address(), "") << server_->output();
    auto client = Client::Connect({.address = server_->address()});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = std::make_unique<Client>(*std::move(client));
    const auto budget =
        client_->CreateBudget({.id = "adult",
                               .cap = GaussianDpCap{100},
                               .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                               .privacy_unit = "person"});
    ASSERT_TRUE(budget.ok()) << budget.status();
  }

  void TearDown() override {
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void WriteRecords() {
    std::mt19937_64 generator(3);
    std::ofstream file(folder_ + "/records.libsvm");
    for (int record = 0; record < 200; ++record) {
      file << (generator() % 2 == 0 ? "-1" : "1");
      for (int feature = 1; feature <= 8; ++feature) {
        file << " " << feature << ":" << static_cast<double>(generator() % 100) / 100;
      }
      file << "\n";
    }
  }

  std::vector<std::string> Arguments(int max_steps, const std::string& log) const {
    return {"--server",
            server_->address(),
            "--budget",
            "adult",
            "--data",
            folder_ + "/records.libsvm",
            "--record-count",
            "150",
            "--noise-multiplier",
            "20",
            "--steps",
            "1",
            "--max-steps",
            std::to_string(max_steps),
            "--log-json",
            folder_ + "/" + log,
            "--checkpoint",
            folder_ + "/state",
            "--checkpoint-every",
            "5"};
  }

  std::vector<nlohmann::json> ReadLog(const std::string& log) const {
    std::vector<nlohmann::json> records;
    std::ifstream file(folder_ + "/" + log);
    for (std::string line; std::getline(file, line);) {
      // The last line of a process that was killed may be half.
      nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
      if (record.is_object()) records.push_back(record);
    }
    return records;
  }

  static int CountSteps(const std::vector<nlohmann::json>& records) {
    int steps = 0;
    for (const nlohmann::json& record : records) steps += record["record"] == "step";
    return steps;
  }

  std::int64_t charges() const {
    const auto budget = client_->GetBudget("adult");
    EXPECT_TRUE(budget.ok()) << budget.status();
    return budget.ok() ? budget->accepted_charge_count : -1;
  }

  std::string folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(ResumeTest, ATrainerThatIsKilledGoesOnInANewAttemptAndPaysAgain) {
  {
    TrainerProcess trainer(Arguments(1'000'000, "first.jsonl"));
    ASSERT_TRUE(trainer.ReadUntil("step  30"));
    trainer.Kill();
  }
  const int logged = CountSteps(ReadLog("first.jsonl"));
  EXPECT_GE(logged, 30);
  const std::int64_t charged = charges();
  EXPECT_GE(charged, logged);
  EXPECT_LE(charged, logged + 1);  // the one in flight

  const absl::StatusOr<Checkpoint> checkpoint = ReadCheckpoint(folder_ + "/state");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_GE(checkpoint->state.step, 30);
  EXPECT_EQ(checkpoint->state.step % 5, 0);
  const int wanted = checkpoint->state.step + 25;
  std::vector<std::string> arguments = Arguments(wanted, "second.jsonl");
  arguments.push_back("--resume");
  TrainerProcess resumed(arguments);
  EXPECT_EQ(resumed.WaitForEnd(), 0);
  const auto records = ReadLog("second.jsonl");
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.front()["resumed_from_step"], checkpoint->state.step);
  const std::string attempt = records.front()["attempt"];
  EXPECT_EQ(attempt.substr(attempt.rfind('/')), "/2");
  EXPECT_EQ(records.back()["record"], "result");
  EXPECT_EQ(records.back()["steps"], wanted);
  EXPECT_EQ(records.back()["releases"], 25);
  EXPECT_EQ(CountSteps(records), 25);
  // Every release of both attempts is in the ledger, and one more at most.
  EXPECT_EQ(charges(), charged + 25);
}

TEST_F(ResumeTest, AServerThatIsKilledAndComesBackHasEveryReleaseOnce) {
  constexpr int kSteps = 200;
  TrainerProcess trainer(Arguments(kSteps, "run.jsonl"));
  ASSERT_TRUE(trainer.ReadUntil("step  20"));
  server_->Kill();
  server_->Restart();
  EXPECT_EQ(trainer.WaitForEnd(), 0);
  const auto records = ReadLog("run.jsonl");
  EXPECT_EQ(records.back()["releases"], kSteps);
  EXPECT_EQ(charges(), kSteps);
}

TEST_F(ResumeTest, OtherSettingsThanTheCheckpointsAreRefused) {
  {
    TrainerProcess trainer(Arguments(10, "first.jsonl"));
    EXPECT_EQ(trainer.WaitForEnd(), 0);
  }
  std::vector<std::string> arguments = Arguments(20, "second.jsonl");
  arguments.insert(arguments.end(), {"--resume", "--lambda", "0.5"});
  TrainerProcess other(arguments);
  EXPECT_EQ(other.WaitForEnd(), 1);
  EXPECT_EQ(charges(), 10);
}

TEST_F(ResumeTest, AsPublishedIsRefusedByACapAndReadsNothing) {
  std::vector<std::string> arguments = {"--server",       server_->address(),
                                        "--budget",       "adult",
                                        "--data",         folder_ + "/records.libsvm",
                                        "--record-count", "150",
                                        "--steps",        "9",
                                        "--mode",         "as-published"};
  {
    TrainerProcess without_consent(arguments);
    EXPECT_EQ(without_consent.WaitForEnd(), 2);
  }
  arguments.push_back("--accept-unproven");
  TrainerProcess refused(arguments);
  EXPECT_EQ(refused.WaitForEnd(), 3);
  EXPECT_EQ(charges(), 0);
}

TEST_F(ResumeTest, AsPublishedShowsItsLabelAndItsClaimAndNoEpsilon) {
  // No real budget with a cap admits such a run; this ledger has a counter for a cap.
  FakeLedger ledger;
  auto client = Client::Connect({.address = ledger.address()});
  ASSERT_TRUE(client
                  ->CreateBudget({.id = "adult",
                                  .cap = GaussianDpCap{1},
                                  .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                                  .privacy_unit = "person"})
                  .ok());
  TrainerProcess trainer({"--server", ledger.address(), "--budget", "adult", "--data",
                          folder_ + "/records.libsvm", "--record-count", "150", "--steps", "20",
                          "--mode", "as-published", "--accept-unproven", "--claimed-epsilon",
                          "0.25", "--log-json", folder_ + "/log.jsonl"});
  EXPECT_EQ(trainer.WaitForEnd(), 0) << trainer.text();
  EXPECT_EQ(ledger.spent(), 21);
  EXPECT_TRUE(ledger.charge_requests()[0].event().has_non_private());
  const auto session = ledger.session_requests()[0].session();
  EXPECT_EQ(session.claim().status(), v1::Claim::COUNTEREXAMPLE_KNOWN);
  EXPECT_EQ(session.claim().epsilon(), 0.25);
  const std::string& text = trainer.text();
  EXPECT_NE(text.find("Privacy label: as published; claimed guarantee not proven "
                      "(counterexample_known)."),
            std::string::npos);
  EXPECT_NE(text.find("claims epsilon 0.25"), std::string::npos);
  EXPECT_NE(text.find("no epsilon of this run is proven"), std::string::npos);
  for (const char* number : {"ACCOUNTANT", "RENYI", "epsilon at "}) {
    EXPECT_EQ(text.find(number), std::string::npos) << number;
  }
  const auto records = ReadLog("log.jsonl");
  ASSERT_EQ(records.size(), 22U);
  for (std::size_t k = 1; k < records.size(); ++k) {
    EXPECT_EQ(records[k]["epsilon"], "none is proven") << k;
  }
  EXPECT_EQ(records.back()["claimed_epsilon"], 0.25);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
