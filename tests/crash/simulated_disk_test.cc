// The ledger on a disk that fails: power cuts that tear, drop and reorder what was not synced,
// killed processes, short writes, full disks, failing reads and failing syncs. While it cannot be
// written it can be read, and it goes on by itself when there is room. After every life the ledger
// holds each acknowledged charge exactly once, under the hash that was acknowledged, and of
// the transaction that was under way all or nothing.
//
// EPSLEDGER_DISK_SEEDS sets how many disks (default 300; the long form is 10000), and
// EPSLEDGER_DISK_FIRST_SEED which is the first.

#include "tests/crash/simulated_disk.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;
using Fault = SimulatedDisk::Fault;

constexpr double kStep = 1.0 / 1024;
constexpr int kTightSteps = 60;  // the cap of "tight": it is reached
constexpr char kPath[] = "/ledger.sqlite";

int64_t Setting(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

// A charge of one or several items, and what is known of it.
struct Asked {
  core::SessionName session;
  std::vector<std::string> ids;
  // What the first acknowledgement said. Empty as long as the outcome is unknown.
  std::vector<core::ChargeRecord> acknowledged;
};

// Lives of servers on one disk.
class Lives {
 public:
  explicit Lives(uint64_t seed) : random_(seed), disk_(seed * 2 + 1) {}

  void Run() {
    for (int life = 0; life < 6; ++life) {
      SCOPED_TRACE(::testing::Message() << "life " << life);
      const Fault fault = kFaults[Below(std::size(kFaults))];
      disk_.Schedule(fault, 1 + Below(life == 0 ? 120 : 60));
      Live();
      if (Below(2) == 0) {
        disk_.KillAndRestart();
      } else {
        disk_.CutPowerAndRestart();
      }
      Verify();
      if (::testing::Test::HasFailure()) return;
    }
    SettleEverything();
  }

  // The `sync`th operation of a life makes a sync fail, its process ends, and what the next one
  // finds in the cache is not what is durable. The power goes at that one's `cut`th operation.
  void RunForgottenSync(int64_t sync, int64_t cut) {
    disk_.Schedule(Fault::kSyncError, sync);
    Live();
    disk_.KillAndRestart();
    disk_.Schedule(Fault::kPowerLoss, cut);
    Live();
    disk_.CutPowerAndRestart();
    Verify();
    if (!::testing::Test::HasFailure()) SettleEverything();
  }

  int64_t acknowledged() const { return acknowledged_; }
  int64_t faulty_lives() const { return faulty_lives_; }
  int64_t reads() const { return reads_; }
  int64_t resumptions() const { return resumptions_; }

 private:
  // Without faults every outcome becomes known.
  void SettleEverything() {
    Live();
    disk_.CutPowerAndRestart();
    Verify();
    for (const Asked& asked : asked_) EXPECT_FALSE(asked.acknowledged.empty()) << asked.ids[0];
  }

  static constexpr Fault kFaults[] = {Fault::kPowerLoss, Fault::kKill,      Fault::kWriteError,
                                      Fault::kDiskFull,  Fault::kSyncError, Fault::kReadError,
                                      Fault::kPowerLoss, Fault::kKill,      Fault::kSyncError};

  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }

  // One process, from its start to an end that CutPowerAndRestart or KillAndRestart makes final.
  void Live() {
    // With a small limit most commits move pages to the database.
    const int checkpoint_pages = 1 << Below(11);
    auto store = SqliteStore::Open(
        kPath, {.vfs = disk_.vfs_name(), .checkpoint_pages = checkpoint_pages, .anchored = true});
    if (!store.ok()) {
      ExpectFault(store.status());
      return;
    }
    auto ledger =
        GroupCommitLedger::Open(*std::move(store), {.resume_interval = absl::Milliseconds(1)});
    if (!ledger.ok()) {
      ExpectFault(ledger.status());
      return;
    }
    ledger_ = ledger->get();
    WaitingClient client(**ledger);
    if (!SetUp(client)) {
      ExpectFault((*ledger)->Health());
    } else {
      Work(client);
    }
    if (disk_.faults() > 0 || disk_.dead()) ++faulty_lives_;
    // A process that is killed does not close its files in order; one that ends may.
    if (Below(4) != 0) disk_.Schedule(Fault::kKill, 1);
    *ledger = nullptr;
  }

  // A refusal is the right answer to a fault, and to nothing else.
  void ExpectFault(const absl::Status& status) {
    EXPECT_TRUE(disk_.dead() || disk_.faults() > 0) << status;
    ++faulty_lives_;
  }

  bool SetUp(WaitingClient& client) {
    for (const char* budget : {"wide", "tight", "other"}) {
      const double cap = std::string_view(budget) == "tight" ? kTightSteps * kStep : 1 << 20;
      if (!client.CreateBudget(budget, cap).ok()) return false;
      const core::SessionName session = client.CreateSession(budget, "run");
      if (attempts_.count(budget) == 0) {
        const int64_t attempt = client.OpenAttempt(session);
        if (attempt == 0 || disk_.dead()) return false;
        attempts_[budget] = attempt;
      }
    }
    return true;
  }

  core::Charge Command(const Asked& asked) const {
    core::Charge charge{.session = asked.session, .attempt = attempts_.at(asked.session.budget_id)};
    for (const std::string& id : asked.ids) charge.items.push_back({id, PureDp{kStep}, 1});
    return charge;
  }

  void Work(WaitingClient& client) {
    std::vector<size_t> again;  // unknown outcomes, and some known ones
    for (size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i].acknowledged.empty() || Below(20) == 0) again.push_back(i);
    }
    for (size_t i : again) Send(client, {i});
    for (int round = 0; round < 10; ++round) {
      std::vector<size_t> together;
      for (size_t n = 1 + Below(6); n > 0; --n) {
        static constexpr const char* kBudgets[] = {"wide", "tight", "other"};
        Asked asked{.session = {kBudgets[Below(3)], "run"}, .ids = {}, .acknowledged = {}};
        for (size_t items = Below(3) == 0 ? 4 : 1; items > 0; --items) {
          asked.ids.push_back("charge-" + std::to_string(++ids_));
        }
        together.push_back(asked_.size());
        asked_.push_back(std::move(asked));
      }
      Send(client, together);
      if (!ledger_->Health().ok() && !disk_.dead()) ReadAndGoOn(client);
    }
  }

  // In a life whose ledger has failed.
  void ReadAndGoOn(WaitingClient& client) {
    const auto missing =
        client.Read([this](core::LedgerReader& reader) { return CountMissing(reader); });
    // A disk that cannot be read, or has ended meanwhile, shows nothing.
    if (missing.ok()) {
      EXPECT_EQ(*missing, 0) << "acknowledged and not shown while the ledger was read only";
      ++reads_;
    }
    if (Below(2) == 0) return;
    disk_.MakeRoom();
    absl::Status health = ledger_->Health();
    while (!health.ok() && absl::StrContains(health.message(), "tries again by itself") &&
           !disk_.dead()) {
      std::this_thread::yield();
      health = ledger_->Health();
    }
    if (health.ok() && !disk_.dead()) ++resumptions_;
  }

  // How many acknowledged entries the ledgers do not hold.
  int64_t CountMissing(core::LedgerReader& reader) const {
    int64_t missing = 0;
    for (const Asked& asked : asked_) {
      const core::Ledger* ledger = reader.LedgerOf(asked.session.budget_id);
      for (const core::ChargeRecord& record : asked.acknowledged) {
        missing += ledger == nullptr || ledger->head().sequence < record.sequence ? 1 : 0;
      }
    }
    return missing;
  }

  // Sends some charges at once: they may share a transaction.
  void Send(WaitingClient& client, const std::vector<size_t>& together) {
    const bool sync_has_failed = disk_.failed_syncs() > 0;
    std::vector<std::future<absl::StatusOr<core::Outcome>>> replies;
    for (size_t i : together) replies.push_back(client.Submit(Command(asked_[i])));
    std::vector<absl::StatusOr<core::Outcome>> outcomes;
    for (auto& reply : replies) outcomes.push_back(reply.get());
    if (disk_.dead()) return;  // nobody heard it
    for (size_t n = 0; n < together.size(); ++n) {
      Asked& asked = asked_[together[n]];
      if (!outcomes[n].ok()) {
        EXPECT_EQ(outcomes[n].status().code(), absl::StatusCode::kUnavailable)
            << outcomes[n].status();
        continue;
      }
      EXPECT_FALSE(sync_has_failed) << "acknowledged after a failed sync (I7)";
      const auto& records = std::get<core::ChargeOutcome>(*outcomes[n]).records;
      ASSERT_EQ(records.size(), asked.ids.size());
      if (asked.acknowledged.empty()) {
        asked.acknowledged = records;
        acknowledged_ += static_cast<int64_t>(records.size());
        continue;
      }
      for (size_t i = 0; i < records.size(); ++i) {  // I6
        EXPECT_EQ(records[i].sequence, asked.acknowledged[i].sequence);
        EXPECT_EQ(records[i].hash, asked.acknowledged[i].hash);
        EXPECT_EQ(records[i].row.decision, asked.acknowledged[i].row.decision);
      }
    }
  }

  // What a new process finds, against what was acknowledged.
  void Verify() {
    auto store = SqliteStore::Open(kPath, {.vfs = disk_.vfs_name()});
    ASSERT_TRUE(store.ok()) << store.status();
    std::map<std::string, core::Ledger> ledgers;
    std::map<std::string, core::Entry> by_id;
    std::map<std::string, std::string> root_of;
    std::map<std::string, int64_t> accepted;
    const absl::Status read =
        (*store)->ReadAll([&](const std::string& root, core::Entry entry) -> absl::Status {
          absl::Status applied = ledgers[root].Apply(entry);  // the chain, and every cap
          if (const auto* row = std::get_if<core::ChargeDecided>(&entry.body)) {
            if (row->decision == core::ChargeDecision::kAccepted) accepted[root] += row->count;
          }
          if (const auto key = core::ChargeKeyOf(entry.body)) {
            root_of[key->charge_id] = root;
            EXPECT_TRUE(by_id.emplace(key->charge_id, entry).second)
                << key->charge_id << " is there twice";
          }
          return applied;
        });
    ASSERT_TRUE(read.ok()) << read;
    for (const auto& [id, entry] : by_id) {
      const auto found = (*store)->FindCharge(root_of[id], *core::KeyOf(entry.body));
      ASSERT_TRUE(found.ok()) << id << ": " << found.status();
      ASSERT_TRUE(found->has_value()) << id << " has no key";
      EXPECT_EQ((*found)->hash, entry.hash);
    }
    for (const Asked& asked : asked_) {
      size_t stored = 0;
      for (size_t i = 0; i < asked.ids.size(); ++i) {
        const auto it = by_id.find(asked.ids[i]);
        stored += it == by_id.end() ? 0 : 1;
        if (asked.acknowledged.empty()) continue;
        ASSERT_TRUE(it != by_id.end()) << asked.ids[i] << " was acknowledged and is lost";
        EXPECT_EQ(it->second.sequence, asked.acknowledged[i].sequence);
        EXPECT_EQ(it->second.hash, asked.acknowledged[i].hash);
      }
      EXPECT_TRUE(stored == 0 || stored == asked.ids.size()) << "part of a transaction is there";
    }
    for (const auto& [root, ledger] : ledgers) {
      EXPECT_EQ(ledger.FindBudget(root)->balance.spent()[0],
                core::Cost::RoundUp(kStep).Times(accepted[root]));  // I2
    }
    EXPECT_LE(accepted["tight"], kTightSteps);
    disk_.Schedule(Fault::kKill, 1);  // looking changes nothing
    *store = nullptr;
    disk_.KillAndRestart();
  }

  std::mt19937_64 random_;
  SimulatedDisk disk_;
  std::map<std::string, int64_t> attempts_;
  std::vector<Asked> asked_;
  int64_t ids_ = 0;
  int64_t acknowledged_ = 0;
  int64_t faulty_lives_ = 0;
  GroupCommitLedger* ledger_ = nullptr;  // of this life
  int64_t reads_ = 0;                    // while it could not be written
  int64_t resumptions_ = 0;              // lives that went on by themselves after a fault
};

TEST(SimulatedDisk, NoFaultLosesOrRepeatsAnAcknowledgedCharge) {
  const int64_t seeds = Setting("EPSLEDGER_DISK_SEEDS", 300);
  const int64_t first = Setting("EPSLEDGER_DISK_FIRST_SEED", 1);
  int64_t acknowledged = 0;
  int64_t faulty_lives = 0;
  int64_t reads = 0;
  int64_t resumptions = 0;
  for (int64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "EPSLEDGER_DISK_FIRST_SEED=" << seed);
    Lives lives(static_cast<uint64_t>(seed));
    lives.Run();
    acknowledged += lives.acknowledged();
    faulty_lives += lives.faulty_lives();
    reads += lives.reads();
    resumptions += lives.resumptions();
    if (HasFailure()) break;
  }
  EXPECT_GE(faulty_lives, HasFailure() ? 0 : seeds);  // the faults happened
  if (seeds >= 300 && !HasFailure()) {
    EXPECT_GE(reads, seeds / 3);
    EXPECT_GE(resumptions, seeds / 6);
  }
  std::printf(
      "%ld disks, %ld lives that met a fault, %ld charges acknowledged, %ld readings while nothing "
      "could be written, %ld times written again in the same life\n",
      static_cast<long>(seeds), static_cast<long>(faulty_lives), static_cast<long>(acknowledged),
      static_cast<long>(reads), static_cast<long>(resumptions));
}

// What a failed sync forgot stands in the cache of the operating system as if it were durable: a
// process that trusts it and moves it on leaves a mixture when the power goes.
TEST(SimulatedDisk, WhatAFailedSyncForgotIsNotBuiltUpon) {
  constexpr int64_t kStride = 3;  // so many seeds try every pair
  const int64_t seeds = std::max<int64_t>(1, Setting("EPSLEDGER_DISK_SEEDS", 300) / 300);
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    for (int64_t sync = 1; sync <= 60; ++sync) {
      for (int64_t cut = 1 + (sync + seed) % kStride; cut <= 30; cut += kStride) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << ", sync " << sync << ", cut " << cut);
        Lives(static_cast<uint64_t>(1000 * seed + 100 * sync + cut)).RunForgottenSync(sync, cut);
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::storage
