// What every store must do, run against each of them.

#include "gtest/gtest.h"

#include <algorithm>
#include <functional>
#include <future>
#include <limits>
#include <memory>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/ledger_store.h"
#include "server/storage/postgres/postgres_store.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/memory_store.h"
#include "tests/server/storage/postgres/engine_database.h"
#include "tests/server/storage/postgres/fresh_database.h"
#include "tests/server/storage/sample_entries.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;
using core::Entry;

struct StoreKind {
  const char* name;
  std::function<std::unique_ptr<LedgerStore>(const ScratchFolder&)> open;
};

void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

class StoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { store_ = GetParam().open(folder_); }

  absl::Status AppendAll(const std::string& root, const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      if (absl::Status status = store_->Append(root, entry); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::vector<std::pair<std::string, int64_t>> Stored() {
    std::vector<std::pair<std::string, int64_t>> rows;
    const absl::Status status = store_->ReadAll([&](const std::string& root, Entry entry) {
      rows.emplace_back(root, entry.sequence);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  ScratchFolder folder_;
  std::unique_ptr<LedgerStore> store_;
};

TEST_P(StoreContract, StartsEmpty) {
  EXPECT_TRUE(Stored().empty());
  const auto charge = store_->FindCharge("adult", {1, 1, "x"});
  ASSERT_TRUE(charge.ok());
  EXPECT_FALSE(charge->has_value());
  EXPECT_TRUE(store_->ListCharges("adult", 1, 0, 10, kAnyBytes)->empty());
}

TEST_P(StoreContract, GivesBackEveryLedgerInOrderByteForByte) {
  const std::vector<Entry> a = MakeEntries("a", 3);
  const std::vector<Entry> b = MakeEntries("b", 1);
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("b", {b[0]}).ok());
  ASSERT_TRUE(AppendAll("a", a).ok());
  ASSERT_TRUE(AppendAll("b", {b.begin() + 1, b.end()}).ok());
  ASSERT_TRUE(store_->Commit().ok());
  std::map<std::string, std::vector<Entry>> got;
  ASSERT_TRUE(store_
                  ->ReadAll([&](const std::string& root, Entry entry) {
                    got[root].push_back(std::move(entry));
                    return absl::OkStatus();
                  })
                  .ok());
  ASSERT_EQ(got["a"].size(), a.size());
  ASSERT_EQ(got["b"].size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(got["a"][i].content, a[i].content);
    EXPECT_EQ(got["a"][i].hash, a[i].hash);
    EXPECT_EQ(got["a"][i].sequence, a[i].sequence);
  }
}

TEST_P(StoreContract, AVisitorsErrorStopsTheReading) {
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("a", MakeEntries("a", 3)).ok());
  ASSERT_TRUE(store_->Commit().ok());
  int visited = 0;
  const absl::Status status = store_->ReadAll([&](const std::string&, Entry) {
    return ++visited == 2 ? absl::DataLossError("stop") : absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(visited, 2);
}

TEST_P(StoreContract, FindsAChargeInsideItsOwnTransaction) {
  const std::vector<Entry> entries = MakeEntries("a", 2);
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("a", entries).ok());
  const auto found = store_->FindCharge("a", {1, 1, "step-1"});
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->content, entries.back().content);
  ASSERT_TRUE(store_->Commit().ok());
  EXPECT_TRUE(store_->FindCharge("a", {1, 1, "step-1"})->has_value());
  EXPECT_FALSE(store_->FindCharge("a", {1, 1, "step-2"})->has_value());
  EXPECT_FALSE(store_->FindCharge("a", {1, 2, "step-1"})->has_value());
  EXPECT_FALSE(store_->FindCharge("a", {2, 1, "step-1"})->has_value());
  EXPECT_FALSE(store_->FindCharge("b", {1, 1, "step-1"})->has_value());
}

TEST_P(StoreContract, ListsChargesInOrderAndByPage) {
  const std::vector<Entry> entries = MakeEntries("a", 5);
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("a", entries).ok());
  ASSERT_TRUE(store_->Commit().ok());
  const std::vector<Entry> first = *store_->ListCharges("a", 1, 0, 2, kAnyBytes);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_LT(first[0].sequence, first[1].sequence);
  const std::vector<Entry> rest = *store_->ListCharges("a", 1, first[1].sequence, 100, kAnyBytes);
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(rest.back().content, entries.back().content);
  EXPECT_TRUE(store_->ListCharges("a", 2, 0, 100, kAnyBytes)->empty());
  // One at least, and the one that reaches the bound.
  const auto bytes = static_cast<int64_t>(first[0].content.size());
  EXPECT_EQ(store_->ListCharges("a", 1, 0, 100, 1)->size(), 1u);
  EXPECT_EQ(store_->ListCharges("a", 1, 0, 100, bytes)->size(), 1u);
  EXPECT_EQ(store_->ListCharges("a", 1, 0, 100, bytes + 1)->size(), 2u);
}

TEST_P(StoreContract, ReadsNoMoreBytesThanAreAskedFor) {
  const std::vector<Entry> entries = MakeEntries("a", 5);
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("a", entries).ok());
  ASSERT_TRUE(store_->Commit().ok());
  const auto read = [&](int64_t after, int64_t limit, int64_t max_bytes) {
    return store_->ReadEntries("a", after, limit, max_bytes)->size();
  };
  const auto bytes = [&](size_t i) { return static_cast<int64_t>(entries[i].content.size()); };
  EXPECT_EQ(read(0, 100, kAnyBytes), entries.size());
  EXPECT_EQ(read(0, 2, kAnyBytes), 2u);
  // One at least, and the one that reaches the bound.
  EXPECT_EQ(read(1, 100, 1), 1u);
  EXPECT_EQ(read(1, 100, bytes(1)), 1u);
  EXPECT_EQ(read(1, 100, bytes(1) + 1), 2u);
  EXPECT_EQ(read(1, 100, bytes(1) + bytes(2) + 1), 3u);
  const std::vector<Entry> last =
      *store_->ReadEntries("a", static_cast<int64_t>(entries.size()) - 1, 100, 1);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].content, entries.back().content);
}

// Over more entries than one block, of two sessions that take turns.
TEST_P(StoreContract, ListsTheChargesOfEachOfManySessions) {
  auto ledger = GroupCommitLedger::Open(std::move(store_), {});
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  WaitingClient client(**ledger);
  ASSERT_TRUE(client.CreateBudget("a", 1000).ok());
  const core::SessionName sessions[] = {client.CreateSession("a", "one"),
                                        client.CreateSession("a", "two")};
  for (const core::SessionName& session : sessions) client.OpenAttempt(session);
  constexpr int kCharges = 200;
  for (int i = 0; i < kCharges; ++i) {
    // The second only now and then.
    for (int s = 0; s < (i % 70 == 0 ? 2 : 1); ++s) {
      ASSERT_TRUE(client.Charge(sessions[s], 1, std::to_string(i), PureDp{1}).ok());
    }
  }
  const auto check = [&](core::LedgerReader& reader) {
    int64_t after = 0;
    for (int i = 0; i < kCharges; i += 7) {
      const auto page = reader.ListCharges(sessions[0], after, 7)->records;
      ASSERT_EQ(page.size(), std::min<size_t>(7, kCharges - i));
      for (size_t k = 0; k < page.size(); ++k) {
        EXPECT_EQ(page[k].row.charge_id, std::to_string(i + k));
      }
      after = page.back().sequence;
    }
    EXPECT_TRUE(reader.ListCharges(sessions[0], after, 7)->records.empty());
    const int64_t last = std::numeric_limits<int64_t>::max();
    EXPECT_TRUE(reader.ListCharges(sessions[0], last, 7)->records.empty());
    const auto few = reader.ListCharges(sessions[1], 0, 100)->records;
    ASSERT_EQ(few.size(), 3u);
    EXPECT_EQ(few[1].row.charge_id, "70");
  };
  std::promise<void> done;
  (*ledger)->Read({}, [&](absl::StatusOr<core::LedgerReader*> reader) {
    check(**reader);
    done.set_value();
  });
  done.get_future().wait();
}

TEST_P(StoreContract, RefusesAStaleView) {
  const std::vector<Entry> entries = MakeEntries("a", 2);
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("a", entries).ok());
  EXPECT_EQ(store_->Append("a", entries.back()).code(), absl::StatusCode::kAborted);
  Entry gap = entries.back();
  gap.sequence += 2;
  EXPECT_EQ(store_->Append("a", gap).code(), absl::StatusCode::kAborted);
  Entry same_key = entries.back();
  same_key.sequence += 1;
  EXPECT_EQ(store_->Append("a", same_key).code(), absl::StatusCode::kAborted);
}

TEST_P(StoreContract, BudgetIdsAreUniqueAcrossLedgers) {
  ASSERT_TRUE(store_->Begin().ok());
  ASSERT_TRUE(AppendAll("a", {MakeEntries("a", 0)[0]}).ok());
  EXPECT_EQ(AppendAll("b", {MakeEntries("a", 0)[0]}).code(), absl::StatusCode::kAborted);
}

// I17: the same commands give the same ledger, hash for hash, whatever keeps it. The head is the
// one that a ledger without any store reaches.
TEST_P(StoreContract, KeepsTheLedgerHashForHash) {
  const core::Hash want = MakeEntries("a", 20).back().hash;
  auto ledger = GroupCommitLedger::Open(std::move(store_), {});
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  WaitingClient client(**ledger, /*time_micros=*/1);
  ASSERT_TRUE(client.CreateBudget("a", kSampleCap).ok());
  const core::SessionName session = client.CreateSession("a", "run");
  client.OpenAttempt(session);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.Charge(session, 1, "step-" + std::to_string(i), PureDp{kSampleCharge}).ok());
  }
  EXPECT_EQ(client.Head("a").hash, want);
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    ::testing::Values(
        StoreKind{"Memory", [](const ScratchFolder&) { return std::make_unique<MemoryStore>(); }},
        StoreKind{"Sqlite",
                  [](const ScratchFolder& folder) -> std::unique_ptr<LedgerStore> {
                    return *SqliteStore::Open(folder.path() + "/ledger.sqlite3");
                  }},
        StoreKind{"Postgres",
                  [](const ScratchFolder&) -> std::unique_ptr<LedgerStore> {
                    return *PostgresStore::Open(FreshDatabase());
                  }},
        StoreKind{"DialectOfCockroachdb",
                  [](const ScratchFolder&) -> std::unique_ptr<LedgerStore> {
                    return EngineDatabase(EngineDialect::kCockroachdb).Store();
                  }},
        StoreKind{"DialectOfYugabytedb",
                  [](const ScratchFolder&) -> std::unique_ptr<LedgerStore> {
                    return EngineDatabase(EngineDialect::kYugabytedb).Store();
                  }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace epsledger::storage
