// The program with files of its own: a checkpoint of other settings, a mode that is not proven.

#include "gtest/gtest.h"

#include <string>
#include <vector>

#include "epsledger/client.h"
#include "tests/client/trainers/contract/trainer_fixture.h"

namespace epsledger::trainers::istdp {
namespace {

class ResumeTest : public TrainerFixture {
 protected:
  void SetUp() override {
    TrainerFixture::SetUp();
    CreateBudget(GaussianDpCap{100});
    records_ = WriteRecords("records.libsvm", 8, 2);
    held_out_ = WriteRecords("held-out.libsvm", 8, 2, 4);
  }

  std::vector<std::string> Arguments(int max_steps, const std::string& log) const {
    return {"--server",
            server_->address(),
            "--budget",
            "adult",
            "--data",
            records_,
            "--test-data",
            held_out_,
            "--feature-count",
            "8",
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

  static int Run(const std::vector<std::string>& arguments) {
    TrainerProcess trainer("client/trainers/istdp/epsledger-istdp", arguments);
    return trainer.WaitForEnd();
  }

  std::string records_;
  std::string held_out_;
};

TEST_F(ResumeTest, OtherSettingsThanTheCheckpointsAreRefused) {
  EXPECT_EQ(Run(Arguments(10, "first.jsonl")), 0);
  std::vector<std::string> arguments = Arguments(20, "second.jsonl");
  arguments.insert(arguments.end(), {"--resume", "--lambda", "0.5"});
  EXPECT_EQ(Run(arguments), 1);
  EXPECT_EQ(charges(), 10);
}

TEST_F(ResumeTest, AsPublishedIsRefusedByACapAndReadsNothing) {
  std::vector<std::string> arguments = {"--server",        server_->address(),
                                        "--budget",        "adult",
                                        "--data",          records_,
                                        "--test-data",     held_out_,
                                        "--feature-count", "8",
                                        "--mode",          "as-published",
                                        "--record-count",  "150",
                                        "--steps",         "9"};
  EXPECT_EQ(Run(arguments), 2);
  arguments.push_back("--accept-unproven");
  EXPECT_EQ(Run(arguments), 3);
  EXPECT_EQ(charges(), 0);
}

TEST_F(ResumeTest, AsPublishedShowsItsLabelAndItsClaimAndNoEpsilon) {
  // No budget with a cap admits such a run.
  const auto budget =
      client_->CreateBudget({.id = "published",
                             .cap = NoGuaranteeCap{},
                             .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                             .privacy_unit = "person"});
  ASSERT_TRUE(budget.ok()) << budget.status();
  TrainerProcess trainer("client/trainers/istdp/epsledger-istdp", {"--server",
                                                                   server_->address(),
                                                                   "--budget",
                                                                   "published",
                                                                   "--data",
                                                                   records_,
                                                                   "--test-data",
                                                                   held_out_,
                                                                   "--feature-count",
                                                                   "8",
                                                                   "--record-count",
                                                                   "150",
                                                                   "--steps",
                                                                   "20",
                                                                   "--mode",
                                                                   "as-published",
                                                                   "--accept-unproven",
                                                                   "--claimed-epsilon",
                                                                   "0.25",
                                                                   "--log-json",
                                                                   folder_ + "/log.jsonl"});
  EXPECT_EQ(trainer.WaitForEnd(), 0) << trainer.text();
  // The exact access, then every noisy gradient.
  EXPECT_EQ(client_->GetBudget("published")->accepted_charge_count, 21);
  const std::string& text = trainer.text();
  EXPECT_NE(text.find("Privacy label: as published; claimed guarantee not proven "
                      "(counterexample_known)."),
            std::string::npos);
  EXPECT_NE(text.find("claims epsilon 0.25"), std::string::npos);
  EXPECT_NE(text.find("no epsilon of this run is proven"), std::string::npos);
  for (const char* number : {"ACCOUNTANT", "RENYI", "epsilon at "}) {
    EXPECT_EQ(text.find(number), std::string::npos) << number;
  }
  const auto records = ReadLog(folder_ + "/log.jsonl");
  ASSERT_EQ(records.size(), 22U);
  for (size_t k = 1; k < records.size(); ++k) {
    EXPECT_EQ(records[k]["epsilon"], "none is proven") << k;
  }
  EXPECT_EQ(records.back()["claimed_epsilon"], 0.25);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
