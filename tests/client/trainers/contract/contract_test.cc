// What every trainer owes the ledger: no noise is drawn that was not charged before, whatever dies
// and when; and in a run that nothing interrupts, as many charges as draws.

#include <stdlib.h>
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/trainers/contract/trainer_fixture.h"

namespace epsledger::trainers {
namespace {

struct TrainerCase {
  std::string name;
  std::string program;
  // Every step is the same event, small beside the budget.
  std::vector<std::string> arguments;
  // A line of its output that comes after at least 20 steps.
  std::string twenty_steps;
  // A divergence at order 2 that ten steps stay below, and any release more does not.
  double more_than_ten_steps;
  int releases_per_step = 1;
};

constexpr RenyiCap kWide = {.order = 2, .divergence = 1e6};

std::ostream& operator<<(std::ostream& out, const TrainerCase& trainer) {
  return out << trainer.name;
}

const TrainerCase kTrainers[] = {
    {.name = "istdp",
     .program = "client/trainers/istdp/epsledger-istdp",
     .arguments = {"--record-count", "150", "--noise-multiplier", "20"},
     .twenty_steps = "step  20",
     // A step has 2 / (2 20^2) = .0025.
     .more_than_ten_steps = .0251},
    {.name = "istdp_line_search",
     .program = "client/trainers/istdp/epsledger-istdp",
     .arguments = {"--record-count", "150", "--noise-multiplier", "20", "--mode",
                   "sound-line-search"},
     .twenty_steps = "step  20",
     .more_than_ten_steps = .0251,
     .releases_per_step = 2},
    {.name = "fsdp",
     .program = "client/trainers/fsdp/epsledger-fsdp",
     .arguments = {"--data", "digits", "--model", "mlp:8", "--record-count", "150",
                   "--expected-batch-size", "30", "--adaptive", "--noise-multiplier", "20",
                   "--log-every", "10"},
     .twenty_steps = "step   20",
     // A step has log(1 + .2^2 (exp(1 / 20^2) - 1)) = .000100120.
     .more_than_ten_steps = .00102},
};

class TrainerContract : public TrainerFixture, public testing::WithParamInterface<TrainerCase> {
 protected:
  std::vector<std::string> Arguments(int steps, const std::string& log,
                                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = GetParam().arguments;
    if (!IsFsdp()) {
      arguments.insert(arguments.end(),
                       {"--data", WriteRecords("records.libsvm", 8, 2), "--test-data",
                        WriteRecords("held-out.libsvm", 8, 2, 4), "--feature-count", "8"});
    } else {
      WriteRecords("digits8x8.libsvm", 64, 10);
      setenv("EPSLEDGER_DATA_DIR", folder_.c_str(), 1);
    }
    arguments.insert(
        arguments.end(),
        {"--server", server_->address(), "--budget", budget_, "--session", session_, "--steps",
         std::to_string(steps), "--max-steps", std::to_string(steps), "--log-json", Path(log),
         "--checkpoint", Path("state"), "--checkpoint-every", "5"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Bytes(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static bool IsFsdp() { return GetParam().name == "fsdp"; }
  static int ReleasesOf(int steps) { return steps * GetParam().releases_per_step; }
  // A charge of a killed trainer may be between its socket and the ledger: a new attempt refuses it
  // from here on.
  void FenceWhatIsOnItsWay() {
    const auto session = client_->OpenSession({.budget = budget_, .session = session_});
    ASSERT_TRUE(session.ok()) << session.status();
  }
  std::string budget_ = "adult";
  std::string session_ = "run";
  int Run(const std::vector<std::string>& arguments) {
    TrainerProcess trainer(GetParam().program, arguments);
    return trainer.WaitForEnd();
  }
};

TEST_P(TrainerContract, EveryReleaseIsOneCharge) {
  CreateBudget(kWide);
  EXPECT_EQ(Run(Arguments(23, "run.jsonl")), 0);
  const auto records = ReadLog(Path("run.jsonl"));
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(CountSteps(records), 23);
  EXPECT_EQ(records.back()["releases"], ReleasesOf(23));
  EXPECT_EQ(charges(), ReleasesOf(23));
}

TEST_P(TrainerContract, LeasesOfSevenAreFourForTwentyThreeSteps) {
  CreateBudget(kWide);
  EXPECT_EQ(Run(Arguments(23, "run.jsonl", {"--lease", "7"})), 0);
  const auto records = ReadLog(Path("run.jsonl"));
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back()["releases"], ReleasesOf(23));
  EXPECT_EQ(charges(), ReleasesOf(4));
}

TEST_P(TrainerContract, ARefusalComesBeforeTheNoise) {
  CreateBudget(RenyiCap{.order = 2, .divergence = GetParam().more_than_ten_steps});
  EXPECT_EQ(Run(Arguments(50, "run.jsonl")), 0);
  const auto records = ReadLog(Path("run.jsonl"));
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back()["stop_reason"], "refused");
  EXPECT_EQ(records.back()["releases"], ReleasesOf(10));
  EXPECT_EQ(charges(), ReleasesOf(10));
  // Nothing is left for another run, and it says so by its exit code.
  session_ = "other";
  EXPECT_EQ(Run(Arguments(50, "other.jsonl")), 3);
}

TEST_P(TrainerContract, ATrainerThatIsKilledPaysAgainForWhatItRepeats) {
  CreateBudget(kWide);
  {
    TrainerProcess trainer(GetParam().program, Arguments(1'000'000, "first.jsonl"));
    ASSERT_TRUE(trainer.ReadUntil(GetParam().twenty_steps));
    trainer.Kill();
  }
  FenceWhatIsOnItsWay();
  const int logged = CountSteps(ReadLog(Path("first.jsonl")));
  const int64_t charged = charges();
  EXPECT_GE(logged, 20);
  EXPECT_GE(charged, ReleasesOf(logged));
  EXPECT_LE(charged, ReleasesOf(logged + 1));  // the step in flight
  EXPECT_EQ(Run(Arguments(logged + 30, "second.jsonl", {"--resume"})), 0);
  const auto records = ReadLog(Path("second.jsonl"));
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back()["steps"], logged + 30);
  EXPECT_GE(CountSteps(records), 30);
  EXPECT_EQ(charges(), charged + ReleasesOf(CountSteps(records)));
}

// The same command again would spend the budget on what was paid for already.
TEST_P(TrainerContract, ARunIsNotStartedOverByMistake) {
  CreateBudget(kWide);
  EXPECT_EQ(Run(Arguments(10, "run.jsonl")), 0);
  const std::string state = Bytes("state");
  const std::string log = Bytes("run.jsonl");
  EXPECT_EQ(Run(Arguments(10, "run.jsonl")), 1);
  budget_ = "budgets/adult";  // the same one
  EXPECT_EQ(Run(Arguments(10, "run.jsonl")), 1);
  EXPECT_EQ(charges(), ReleasesOf(10));
  EXPECT_EQ(Bytes("state"), state);
  EXPECT_EQ(Bytes("run.jsonl"), log);
  EXPECT_EQ(Run(Arguments(10, "run.jsonl", {"--new-attempt"})), 0);
  EXPECT_EQ(charges(), ReleasesOf(20));
  EXPECT_EQ(Bytes("state.previous"), state);
  EXPECT_EQ(Bytes("run.jsonl.previous"), log);
  EXPECT_NE(Bytes("state"), state);
  // A run that continues replaces its own checkpoint, and what was kept stays.
  EXPECT_EQ(Run(Arguments(20, "run-2.jsonl", {"--resume"})), 0);
  EXPECT_EQ(charges(), ReleasesOf(30));
  EXPECT_EQ(Bytes("state.previous"), state);
}

TEST_P(TrainerContract, AFileThatCannotBeWrittenIsFoundBeforeACharge) {
  CreateBudget(kWide);
  for (const char* flag : {"--checkpoint", "--log-json", "--log-csv"}) {
    std::vector<std::string> arguments = Arguments(10, "run.jsonl");
    std::erase_if(arguments, [&](const std::string& a) {
      return a == "--log-json" || a == Path("run.jsonl");
    });
    if (std::string(flag) == "--checkpoint") {
      *std::find(arguments.begin(), arguments.end(), Path("state")) = Path("none/state");
    } else {
      arguments.insert(arguments.end(), {flag, Path("none/log")});
    }
    EXPECT_EQ(Run(arguments), 1) << flag;
  }
  EXPECT_EQ(charges(), 0);
}

TEST_P(TrainerContract, ACheckpointThatCannotBeKeptIsNotReplaced) {
  CreateBudget(kWide);
  EXPECT_EQ(Run(Arguments(10, "run.jsonl")), 0);
  const std::string state = Bytes("state");
  std::filesystem::create_directory(Path("state.previous"));
  // Three checkpoints: each is to find that there is no place for the one before.
  Run(Arguments(15, "run-2.jsonl", {"--new-attempt"}));
  EXPECT_EQ(charges(), ReleasesOf(25));
  EXPECT_EQ(Bytes("state"), state);
}

TEST_P(TrainerContract, ARunThatReleasesNothingLeavesTheFilesOfTheOneBefore) {
  CreateBudget(RenyiCap{.order = 2, .divergence = GetParam().more_than_ten_steps});
  std::vector<std::string> files = {"state", "run.jsonl", "run.csv"};
  std::vector<std::string> more = {"--log-csv", Path("run.csv")};
  if (!IsFsdp()) {
    files.push_back("model.json");
    more.insert(more.end(), {"--model", Path("model.json")});
  }
  EXPECT_EQ(Run(Arguments(50, "run.jsonl", more)), 0);
  ASSERT_EQ(charges(), ReleasesOf(10));
  std::vector<std::string> before;
  for (const std::string& file : files) before.push_back(Bytes(file));
  for (const char* how : {"--resume", "--new-attempt"}) {
    std::vector<std::string> again = more;
    again.push_back(how);
    EXPECT_EQ(Run(Arguments(50, "run.jsonl", again)), 3) << how;
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_FALSE(before[i].empty()) << files[i];
      EXPECT_EQ(Bytes(files[i]), before[i]) << files[i] << " " << how;
    }
  }
  EXPECT_EQ(charges(), ReleasesOf(10));
}

// However a program is started again, and however that ends: what a paid run left is there, under
// its name or as .previous, or a continued run has it in its own checkpoint.
TEST_P(TrainerContract, APaidRunSurvivesEveryWayOfStartingAgain) {
  const std::vector<std::string> names = {"state", "run.jsonl", "run.csv", "model"};
  const std::vector<std::string> more = {"--log-csv", Path("run.csv"),
                                         IsFsdp() ? "--model-file" : "--model", Path("model")};
  const auto arguments = [&](int steps, const std::string& flag) {
    std::vector<std::string> all = Arguments(steps, "run.jsonl", more);
    if (!flag.empty()) all.push_back(flag);
    return all;
  };
  int way = 0;
  for (const bool is_killed : {false, true}) {
    for (const std::string flag : {"", "--resume", "--new-attempt"}) {
      SCOPED_TRACE(absl::StrCat(is_killed ? "killed " : "refused ", flag));
      for (const std::string& name : names) {
        for (const char* suffix : {"", ".previous"}) std::filesystem::remove(Path(name + suffix));
      }
      budget_ = absl::StrCat("way-", ++way);
      const double room = is_killed ? 1e6 : GetParam().more_than_ten_steps;
      ASSERT_TRUE(client_
                      ->CreateBudget({.id = budget_,
                                      .cap = RenyiCap{.order = 2, .divergence = room},
                                      .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                                      .privacy_unit = "person"})
                      .ok());
      ASSERT_EQ(Run(arguments(10, "")), 0);
      std::vector<std::string> paid;
      for (const std::string& name : names) paid.push_back(Bytes(name));

      if (is_killed && !flag.empty()) {
        TrainerProcess trainer(GetParam().program, arguments(1'000'000, flag));
        ASSERT_TRUE(trainer.ReadUntil(GetParam().twenty_steps));
        trainer.Kill();
      } else {
        EXPECT_EQ(Run(arguments(20, flag)), flag.empty() ? 1 : 3);
      }

      for (size_t i = 0; i < names.size(); ++i) {
        ASSERT_FALSE(paid[i].empty()) << names[i];
        const bool is_replaced = is_killed && !flag.empty() && names[i] != "model";
        if (!is_replaced) {
          EXPECT_EQ(Bytes(names[i]), paid[i]) << names[i];
        } else if (names[i] != "state" || flag == "--new-attempt") {
          EXPECT_EQ(Bytes(names[i] + ".previous"), paid[i]) << names[i];
        }
      }
      if (is_killed && flag == "--resume") {  // its checkpoint has the ten steps and more
        FenceWhatIsOnItsWay();
        const int steps = 10 + CountSteps(ReadLog(Path("run.jsonl"))) + 20;
        EXPECT_EQ(Run(Arguments(steps, "on.jsonl", {"--resume"})), 0);
        EXPECT_LE(CountSteps(ReadLog(Path("on.jsonl"))), steps - 15);
      }
    }
  }
}

// What a checkpoint holds was charged in one session, of one ledger.
TEST_P(TrainerContract, ARunGoesOnInItsOwnSessionOrNotAtAll) {
  CreateBudget(kWide);
  EXPECT_EQ(Run(Arguments(10, "first.jsonl")), 0);
  ASSERT_EQ(charges(), ReleasesOf(10));
  if (IsFsdp()) {  // the other takes the session from its checkpoint
    session_ = "another";
    EXPECT_EQ(Run(Arguments(20, "second.jsonl", {"--resume"})), 1);
    session_ = "run";
  }
  const auto other =
      client_->CreateBudget({.id = "other",
                             .cap = kWide,
                             .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                             .privacy_unit = "person"});
  ASSERT_TRUE(other.ok()) << other.status();
  budget_ = "other";
  EXPECT_EQ(Run(Arguments(20, "third.jsonl", {"--resume"})), 1);
  EXPECT_EQ(charges(), ReleasesOf(10));
  EXPECT_EQ(client_->GetBudget("other")->accepted_charge_count, 0);
}

TEST_P(TrainerContract, ARunGoesOnWithItsOwnSettingsOrNotAtAll) {
  CreateBudget(kWide);
  EXPECT_EQ(Run(Arguments(10, "first.jsonl")), 0);
  ASSERT_EQ(charges(), ReleasesOf(10));
  const std::string clip = IsFsdp() ? "--clip-residual" : "--clip-norm";
  EXPECT_EQ(Run(Arguments(20, "second.jsonl", {"--resume", clip, "0.25"})), 1);
  EXPECT_EQ(charges(), ReleasesOf(10));
  EXPECT_EQ(Run(Arguments(20, "third.jsonl", {"--resume"})), 0);
  EXPECT_EQ(charges(), ReleasesOf(20));
}

TEST_P(TrainerContract, AServerThatIsKilledAndComesBackHasEveryReleaseOnce) {
  CreateBudget(kWide);
  TrainerProcess trainer(GetParam().program, Arguments(200, "run.jsonl"));
  ASSERT_TRUE(trainer.ReadUntil(GetParam().twenty_steps));
  server_->Kill();
  server_->Restart();
  EXPECT_EQ(trainer.WaitForEnd(), 0);
  const auto records = ReadLog(Path("run.jsonl"));
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back()["releases"], ReleasesOf(200));
  EXPECT_EQ(charges(), ReleasesOf(200));
}

TEST_P(TrainerContract, WhenBothAreKilledNothingIsUncharged) {
  CreateBudget(kWide);
  {
    TrainerProcess trainer(GetParam().program, Arguments(1'000'000, "first.jsonl"));
    ASSERT_TRUE(trainer.ReadUntil(GetParam().twenty_steps));
    server_->Kill();
    trainer.Kill();
  }
  const int logged = CountSteps(ReadLog(Path("first.jsonl")));
  server_->Restart();
  const int64_t charged = charges();
  EXPECT_GE(charged, ReleasesOf(logged));
  EXPECT_LE(charged, ReleasesOf(logged + 1));
  EXPECT_EQ(Run(Arguments(logged + 10, "second.jsonl", {"--resume"})), 0);
  EXPECT_EQ(charges(), charged + ReleasesOf(CountSteps(ReadLog(Path("second.jsonl")))));
}

// A lease is charged when it is granted: what a killed trainer had left of it is spent, and what it
// does again comes from leases of its own.
TEST_P(TrainerContract, WhatIsLeftOfALeaseOfAKilledTrainerIsWasted) {
  CreateBudget(kWide);
  {
    TrainerProcess trainer(GetParam().program,
                           Arguments(1'000'000, "first.jsonl", {"--lease", "7"}));
    ASSERT_TRUE(trainer.ReadUntil(GetParam().twenty_steps));
    trainer.Kill();
  }
  FenceWhatIsOnItsWay();
  const int logged = CountSteps(ReadLog(Path("first.jsonl")));
  const int64_t leases = charges();
  EXPECT_GE(7 * leases, ReleasesOf(logged));
  EXPECT_LE(leases, ReleasesOf((logged + 1 + 6) / 7));
  EXPECT_EQ(Run(Arguments(logged + 14, "second.jsonl", {"--resume", "--lease", "7"})), 0);
  const int again = CountSteps(ReadLog(Path("second.jsonl")));
  EXPECT_GE(again, 14);
  EXPECT_EQ(charges(), leases + ReleasesOf((again + 6) / 7));
}

INSTANTIATE_TEST_SUITE_P(All, TrainerContract, testing::ValuesIn(kTrainers),
                         [](const auto& test) { return test.param.name; });

// A run that releases a mean of its features before the first step.
class CenteredRun : public TrainerFixture {
 protected:
  int Run(int steps, const std::string& log, const std::vector<std::string>& more = {}) {
    WriteRecords("digits8x8.libsvm", 64, 10);
    setenv("EPSLEDGER_DATA_DIR", folder_.c_str(), 1);
    const std::string count = std::to_string(steps);
    std::vector<std::string> arguments = {"--data", "digits", "--features", "scattering"};
    const std::vector<std::vector<std::string>> pairs = {{"--server", server_->address()},
                                                         {"--budget", "adult"},
                                                         {"--session", "run"},
                                                         {"--record-count", "150"},
                                                         {"--expected-batch-size", "30"},
                                                         {"--noise-multiplier", "20"},
                                                         {"--center-noise", center_noise_},
                                                         {"--augmentation-multiplicity", views_},
                                                         {"--steps", count},
                                                         {"--max-steps", count},
                                                         {"--checkpoint", Path("state")},
                                                         {"--checkpoint-every", "5"},
                                                         {"--log-json", Path(log)},
                                                         {"--adaptive"},
                                                         more};
    for (const auto& pair : pairs) arguments.insert(arguments.end(), pair.begin(), pair.end());
    TrainerProcess trainer("client/trainers/fsdp/epsledger-fsdp", arguments);
    return trainer.WaitForEnd();
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string center_noise_ = "10";
  std::string views_ = "2";
};

TEST_F(CenteredRun, TheMeanIsOneChargeAndARunThatContinuesHasIt) {
  CreateBudget(kWide);
  ASSERT_EQ(Run(10, "run.jsonl"), 0);
  EXPECT_EQ(charges(), 11);
  ASSERT_EQ(Run(15, "on.jsonl", {"--resume"}), 0);
  EXPECT_EQ(charges(), 16);
  ASSERT_EQ(Run(10, "again.jsonl", {"--new-attempt"}), 0);
  EXPECT_EQ(charges(), 27);
  // Other inputs are another run.
  center_noise_ = "11";
  EXPECT_EQ(Run(20, "other.jsonl", {"--resume"}), 1);
  center_noise_ = "10";
  views_ = "3";
  EXPECT_EQ(Run(20, "other.jsonl", {"--resume"}), 1);
  EXPECT_EQ(charges(), 27);
}

// The mean has a divergence of .01 at order 2, a step one of .0001: with room for the mean and not
// for a step the mean is charged, kept, and not paid for again.
TEST_F(CenteredRun, AMeanThatWasPaidForIsKeptBeforeTheFirstStep) {
  CreateBudget(RenyiCap{.order = 2, .divergence = .01005});
  EXPECT_EQ(Run(10, "run.jsonl"), 3);
  EXPECT_EQ(charges(), 1);
  ASSERT_TRUE(std::filesystem::exists(Path("state")));
  EXPECT_EQ(Run(10, "run.jsonl", {"--resume"}), 3);
  EXPECT_EQ(charges(), 1);
}

TEST_F(CenteredRun, ARefusedMeanReleasesNothing) {
  CreateBudget(RenyiCap{.order = 2, .divergence = .0099});
  EXPECT_EQ(Run(10, "run.jsonl"), 3);
  EXPECT_EQ(charges(), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("state")));
  EXPECT_FALSE(std::filesystem::exists(Path("run.jsonl")));
}

class CanaryRun : public TrainerFixture {
 protected:
  // 23 steps on 200 records.
  int Run(const std::vector<std::string>& more) {
    WriteRecords("digits8x8.libsvm", 64, 10);
    setenv("EPSLEDGER_DATA_DIR", folder_.c_str(), 1);
    std::vector<std::string> arguments = {"--server",
                                          server_->address(),
                                          "--budget",
                                          "adult",
                                          "--data",
                                          "digits",
                                          "--record-count",
                                          "150",
                                          "--steps",
                                          "23",
                                          "--max-steps",
                                          "23",
                                          "--expected-batch-size",
                                          "30",
                                          "--adaptive",
                                          "--noise-multiplier",
                                          "20",
                                          "--log-every",
                                          "23"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    TrainerProcess trainer("client/trainers/fsdp/epsledger-fsdp", arguments);
    const int code = trainer.WaitForEnd();
    text_ = trainer.text();
    return code;
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string text_;
};

TEST_F(CanaryRun, ScoresEveryCanaryAndChargesAsAnyRun) {
  CreateBudget(kWide);
  ASSERT_EQ(Run({"--log-json", Path("plain.jsonl")}), 0);
  const auto plain = ReadLog(Path("plain.jsonl"));
  ASSERT_FALSE(plain.empty());
  EXPECT_FALSE(plain.front().contains("canaries"));
  EXPECT_EQ(text_.find("canar"), std::string::npos);
  ASSERT_EQ(charges(), 23);

  ASSERT_EQ(Run({"--log-json", Path("audit.jsonl"), "--canaries", "40", "--canary-scores",
                 Path("scores.csv")}),
            0);
  EXPECT_EQ(charges(), 2 * 23);
  const auto audit = ReadLog(Path("audit.jsonl"));
  ASSERT_FALSE(audit.empty());
  EXPECT_EQ(audit.front()["canaries"], 40);
  for (const char* field : {"mechanism", "sampling_probability", "max_steps", "parameters"}) {
    EXPECT_EQ(audit.front()[field], plain.front()[field]) << field;
  }
  int members = 0;
  int others = 0;
  std::ifstream file(Path("scores.csv"));
  for (std::string line; std::getline(file, line);) {
    members += line.rfind("member,", 0) == 0;
    others += line.rfind("non-member,", 0) == 0;
  }
  EXPECT_EQ(members, audit.front()["canary_members"]);
  EXPECT_EQ(members + others, 40);
  EXPECT_NE(text_.find("epsctl audit --method one-run --scores " + Path("scores.csv")),
            std::string::npos);
}

TEST_F(CanaryRun, IsRefusedBeforeAnyChargeWhereItCouldAuditNothing) {
  CreateBudget(kWide);
  EXPECT_EQ(Run({"--canaries", "40", "--canary-scores", Path("scores.csv"), "--checkpoint",
                 Path("state"), "--session", "s", "--resume"}),
            2);
  EXPECT_FALSE(std::filesystem::exists(Path("scores.csv")));
  EXPECT_EQ(Run({"--canaries", "40", "--canary-scores", Path("absent/scores.csv")}), 1);
  EXPECT_EQ(Run({"--canaries", "2000000", "--canary-scores", Path("scores.csv")}), 2);
  EXPECT_EQ(charges(), 0);
}

}  // namespace
}  // namespace epsledger::trainers
