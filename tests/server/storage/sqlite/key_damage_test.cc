// The table of charge keys, damaged: what is answered from it is what was decided, or nothing is.

#include <sqlite3.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;

constexpr int kKeys = 40;

class KeyDamage : public ::testing::Test {
 protected:
  KeyDamage() {
    const auto ledger = *GroupCommitLedger::Open(*SqliteStore::Open(path_), {});
    WaitingClient client(*ledger);
    for (const char* budget : {"b", "healthy"}) {
      EXPECT_TRUE(client.CreateBudget(budget, 10 * kStep).ok());
      const core::SessionName run = client.CreateSession(budget, "run");
      EXPECT_EQ(client.OpenAttempt(run), 1);
      // Ten fit, and the others are refused.
      for (int i = 0; i < kKeys; ++i) {
        const std::string id = "step-" + std::to_string(i);
        decided_.emplace(std::pair(std::string(budget), id),
                         *client.Charge(run, 1, id, PureDp{kStep}));
      }
      sequence_ = client.Head(budget).sequence;
    }
  }

  void Sql(const std::string& path, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message;
    sqlite3_free(message);
    sqlite3_close(database);
  }

  std::string Copy(const std::string& name) {
    const std::string path = folder_.path() + "/" + name;
    std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing);
    return path;
  }

  // Repeats every charge: the stored outcome or an error, and never another outcome. Returns how
  // many were answered.
  int ExpectNoOtherOutcome(GroupCommitLedger& ledger, const std::string& budget) {
    WaitingClient client(ledger);
    int answered = 0;
    for (int i = 0; i < kKeys; ++i) {
      const std::string id = "step-" + std::to_string(i);
      const auto again = client.Charge({budget, "run"}, 1, id, PureDp{kStep});
      if (!again.ok()) continue;
      ++answered;
      const core::ChargeRecord& was = decided_.at({budget, id});
      EXPECT_EQ(again->sequence, was.sequence) << budget << " " << id;
      EXPECT_EQ(again->row.decision, was.row.decision) << budget << " " << id;
    }
    return answered;
  }

  ScratchFolder folder_;
  const std::string path_ = folder_.path() + "/ledger.sqlite3";
  std::map<std::pair<std::string, std::string>, core::ChargeRecord> decided_;
  int64_t sequence_ = 0;  // of the last entry of each
};

TEST_F(KeyDamage, AnyChangedRowPutsItsLedgerInQuarantineAndNoOther) {
  const std::string first = " WHERE ledger_id = 1 AND charge_id = 'step-3'";
  int number = 0;
  for (const std::string& change :
       {"UPDATE charges SET sequence = 12" + first, "UPDATE charges SET sequence = 999999" + first,
        "UPDATE charges SET charge_id = 'step-3x'" + first,
        "UPDATE charges SET attempt = 2" + first, "UPDATE charges SET session_number = 9" + first,
        "DELETE FROM charges" + first, std::string("DELETE FROM charges WHERE ledger_id = 1"),
        std::string("INSERT INTO charges VALUES (1, 1, 1, 'forged', 5)"),
        // Two keys change places.
        "UPDATE charges SET charge_id = 'swap'" + first +
            "; UPDATE charges SET charge_id = 'step-3' WHERE ledger_id = 1 AND charge_id = "
            "'step-20'; UPDATE charges SET charge_id = 'step-20' WHERE charge_id = 'swap'"}) {
    SCOPED_TRACE(change);
    const std::string path = Copy("row-" + std::to_string(number++));
    Sql(path, change);
    const auto ledger = GroupCommitLedger::Open(*SqliteStore::Open(path), {});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    WaitingClient client(**ledger);
    for (const char* id : {"step-3", "step-5", "forged", "new"}) {
      EXPECT_EQ(client.Charge({"b", "run"}, 1, id, PureDp{kStep}).status().code(), kDataLoss) << id;
    }
    EXPECT_EQ(ExpectNoOtherOutcome(**ledger, "healthy"), kKeys);
    EXPECT_EQ(
        *client.Read([](core::LedgerReader& reader) { return reader.QuarantinedLedgerCount(); }),
        1);
    // It may be read.
    EXPECT_EQ(client.Head("b").sequence, sequence_);
  }
}

// A row that is damaged while the server runs.
TEST_F(KeyDamage, AKeyThatLeadsToAnotherChargeIsNeverAnswered) {
  auto opened = SqliteStore::Open(Copy("running"));
  ASSERT_TRUE(opened.ok());
  // It finds another charge for one key.
  class Confused : public LedgerStore {
   public:
    explicit Confused(std::unique_ptr<LedgerStore> store) : store_(std::move(store)) {}
    absl::Status ReadAll(Visit visit) override { return store_->ReadAll(visit); }
    absl::Status Begin() override { return store_->Begin(); }
    absl::Status Append(const std::string& root_id, const core::Entry& entry) override {
      return store_->Append(root_id, entry);
    }
    absl::Status Commit() override { return store_->Commit(); }
    absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id, int64_t after,
                                                         int64_t limit,
                                                         int64_t max_bytes) override {
      return store_->ReadEntries(root_id, after, limit, max_bytes);
    }
    absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                          const core::ChargeKey& key) override {
      core::ChargeKey asked = key;
      if (root_id == "b" && key.charge_id == "step-20") asked.charge_id = "step-3";
      return store_->FindCharge(root_id, asked);
    }
    absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                         int64_t session, int64_t after,
                                                         int64_t limit,
                                                         int64_t max_bytes) override {
      return store_->ListCharges(root_id, session, after, limit, max_bytes);
    }

   private:
    const std::unique_ptr<LedgerStore> store_;
  };
  const auto ledger = *GroupCommitLedger::Open(std::make_unique<Confused>(*std::move(opened)), {});
  WaitingClient client(*ledger);
  // Accepted was the third, and the twentieth refused.
  EXPECT_TRUE(client.Charge({"b", "run"}, 1, "step-3", PureDp{kStep}).ok());
  EXPECT_EQ(client.Charge({"b", "run"}, 1, "step-20", PureDp{kStep}).status().code(), kDataLoss);
  EXPECT_EQ(client.Charge({"b", "run"}, 1, "step-3", PureDp{kStep}).status().code(), kDataLoss)
      << "in quarantine";
  EXPECT_EQ(ExpectNoOtherOutcome(*ledger, "healthy"), kKeys);
}

// Single bits of the whole file.
TEST_F(KeyDamage, NoFlippedBitOfTheFileChangesADecision) {
  std::string bytes;
  {
    std::ifstream file(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::mt19937 random(11);
  int opened = 0;
  int quarantined = 0;
  int refused = 0;
  constexpr int kFlips = 600;
  for (int flip = 0; flip < kFlips; ++flip) {
    const size_t at = random() % bytes.size();
    const char bit = static_cast<char>(1 << random() % 8);
    SCOPED_TRACE(testing::Message() << "bit " << static_cast<int>(bit) << " of byte " << at);
    const std::string path = folder_.path() + "/flipped";
    std::filesystem::remove(path + "-wal");
    std::filesystem::remove(path + "-shm");
    bytes[at] = static_cast<char>(bytes[at] ^ bit);
    std::ofstream(path, std::ios::binary) << bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ bit);
    auto store = SqliteStore::Open(path);
    if (!store.ok()) {
      ++refused;
      continue;
    }
    const auto ledger = GroupCommitLedger::Open(*std::move(store), {});
    if (!ledger.ok()) {
      ++refused;
      continue;
    }
    ++opened;
    for (const char* budget : {"b", "healthy"}) {
      quarantined += ExpectNoOtherOutcome(**ledger, budget) < kKeys ? 1 : 0;
      // Nothing was charged twice: a repetition that was answered added nothing.
      WaitingClient client(**ledger);
      EXPECT_EQ(client.Head(budget).sequence, sequence_);
    }
  }
  std::printf("of %d flipped bits %d were refused at the start, %d ledgers took no charges\n",
              kFlips, refused, quarantined);
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, kFlips / 4);
  EXPECT_GT(quarantined, 10);
}

}  // namespace
}  // namespace epsledger::storage
