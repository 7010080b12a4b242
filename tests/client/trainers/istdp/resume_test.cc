// The program with files of its own: a checkpoint of other settings, a mode that is not proven.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/trainers/contract/trainer_fixture.h"

namespace epsledger::trainers::istdp {
namespace {

class ResumeTest : public TrainerFixture {
 protected:
  void SetUp() override {
    TrainerFixture::SetUp();
    CreateBudget(GaussianDpCap{100});
    records_ = WriteRecords("records.libsvm", 8, 2);
  }

  std::vector<std::string> Arguments(int max_steps, const std::string& log) const {
    return {"--server",
            server_->address(),
            "--budget",
            "adult",
            "--data",
            records_,
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
};

TEST_F(ResumeTest, OtherSettingsThanTheCheckpointsAreRefused) {
  EXPECT_EQ(Run(Arguments(10, "first.jsonl")), 0);
  std::vector<std::string> arguments = Arguments(20, "second.jsonl");
  arguments.insert(arguments.end(), {"--resume", "--lambda", "0.5"});
  EXPECT_EQ(Run(arguments), 1);
  EXPECT_EQ(charges(), 10);
}

TEST_F(ResumeTest, AsPublishedIsRefusedByACapAndReadsNothing) {
  std::vector<std::string> arguments = {
      "--server", server_->address(), "--budget", "adult",   "--data",
      records_,   "--record-count",   "150",      "--steps", "9",
      "--mode",   "as-published"};
  EXPECT_EQ(Run(arguments), 2);
  arguments.push_back("--accept-unproven");
  EXPECT_EQ(Run(arguments), 3);
  EXPECT_EQ(charges(), 0);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
