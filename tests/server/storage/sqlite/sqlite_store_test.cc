#include "server/storage/sqlite/sqlite_store.h"

#include <sqlite3.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/ledger_import.h"
#include "server/storage/sqlite/inspection.h"
#include "tests/server/storage/lost_future.h"
#include "tests/server/storage/sample_ledger.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;
using ::testing::HasSubstr;

class SqliteStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<GroupCommitLedger> OpenLedger() {
    auto store = SqliteStore::Open(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    auto ledger = GroupCommitLedger::Open(*std::move(store), {});
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return *std::move(ledger);
  }
  // Makes a ledger of three charges and closes it.
  core::LedgerHead MakeLedger() {
    const auto ledger = OpenLedger();
    WaitingClient client(*ledger);
    EXPECT_TRUE(client.CreateBudget("adult", 4).ok());
    const core::SessionName run = client.CreateSession("adult", "run");
    client.OpenAttempt(run);
    for (const char* id : {"a", "b", "c"}) {
      EXPECT_TRUE(client.Charge(run, 1, id, PureDp{1}).ok());
    }
    return client.Head("adult");
  }
  // Why each incarnation began.
  std::vector<std::string> Lives() {
    std::vector<std::string> reasons;
    const auto lives = SqliteIncarnations(path_);
    EXPECT_TRUE(lives.ok()) << lives.status();
    for (const core::Incarnation& life : *lives) reasons.push_back(life.reason);
    return reasons;
  }
  // Runs SQL on the closed file as somebody with another tool would.
  std::string Sql(const std::string& sql) {
    sqlite3* database = nullptr;
    sqlite3_open(path_.c_str(), &database);
    char* message = nullptr;
    sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
    std::string error = message == nullptr ? "" : message;
    sqlite3_free(message);
    sqlite3_close(database);
    return error;
  }

  ScratchFolder folder_;
  std::string path_ = folder_.path() + "/ledger.sqlite3";
};

TEST_F(SqliteStoreTest, ReopeningGivesTheSameHeadBalancesAndStickyOutcomes) {
  const core::LedgerHead head = MakeLedger();
  const auto ledger = OpenLedger();
  WaitingClient client(*ledger);
  EXPECT_EQ(client.Head("adult"), head);
  EXPECT_EQ(client.Spent("adult"), core::Cost::RoundUp(3));
  const core::SessionName run{.budget_id = "adult", .session_id = "run"};
  EXPECT_EQ(client.Charge(run, 1, "b", PureDp{1})->row.decision, core::ChargeDecision::kAccepted);
  EXPECT_EQ(client.Head("adult"), head);
  EXPECT_EQ(client.Charge(run, 1, "big", PureDp{2})->row.decision, core::ChargeDecision::kRefused);
  EXPECT_EQ(client.OpenAttempt(run), 2);
}

TEST_F(SqliteStoreTest, EveryLedgerGoesOnWhereItWas) {
  const char* budgets[] = {"first", "second", "third"};
  int64_t charges = 0;
  for (int opening = 0; opening < 3; ++opening) {
    const auto ledger = OpenLedger();
    WaitingClient client(*ledger);
    for (const char* budget : budgets) {
      ASSERT_TRUE(client.CreateBudget(budget, 1000).ok());
      const core::SessionName run{.budget_id = budget, .session_id = "run"};
      if (opening == 0) client.CreateSession(budget, "run");
      const int64_t attempt = client.OpenAttempt(run);
      // Heads of different heights.
      for (int i = 0; i <= opening + (budget == budgets[1] ? 7 : 0); ++i) {
        ASSERT_TRUE(client.Charge(run, attempt, std::to_string(i), PureDp{1}).ok());
        ++charges;
      }
    }
  }
  const auto ledger = OpenLedger();
  EXPECT_EQ(ledger->recovered_entry_count(), charges + 3 * 2 + 3 * 3 + /*events priced*/ 3);
}

TEST_F(SqliteStoreTest, ASecondServerOnTheSameDataIsRefused) {
  const auto ledger = OpenLedger();
  WaitingClient(*ledger).CreateBudget("adult", 1).IgnoreError();
  const auto second = SqliteStore::Open(path_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process"));
}

TEST_F(SqliteStoreTest, AnUncommittedTransactionLeavesNoTrace) {
  const core::LedgerHead head = MakeLedger();
  {
    auto store = *SqliteStore::Open(path_);
    std::optional<core::Entry> last;
    ASSERT_TRUE(store
                    ->ReadAll([&](const std::string&, core::Entry entry) {
                      last = std::move(entry);
                      return absl::OkStatus();
                    })
                    .ok());
    core::Entry next = *last;
    next.sequence += 1;
    auto& row = std::get<core::ChargeDecided>(next.body);
    row.charge_id = "never committed";
    ASSERT_TRUE(store->Begin().ok());
    ASSERT_TRUE(store->Append("adult", next).ok());
  }
  const auto ledger = OpenLedger();
  EXPECT_EQ(WaitingClient(*ledger).Head("adult"), head);
}

TEST_F(SqliteStoreTest, RowsAreImmutable) {
  MakeLedger();
  EXPECT_THAT(Sql("UPDATE entries SET content = x'00' WHERE sequence = 2"), HasSubstr("immutable"));
  EXPECT_THAT(Sql("DELETE FROM entries WHERE sequence = 2"), HasSubstr("immutable"));
  EXPECT_THAT(Sql("DELETE FROM charges"), HasSubstr("immutable"));
}

TEST_F(SqliteStoreTest, TamperingPastTheTriggersIsFoundWhenTheLedgerIsOpened) {
  const struct {
    const char* what;
    const char* sql;
  } tampering[] = {
      {"a changed byte",
       "UPDATE entries SET content = CAST(content || x'00' AS BLOB) WHERE sequence = 4"},
      {"a changed hash", "UPDATE entries SET hash = zeroblob(32) WHERE sequence = 4"},
      {"a lost entry", "DELETE FROM entries WHERE sequence = 4"},
  };
  for (const auto& [what, sql] : tampering) {
    path_ = folder_.path() + "/" + what + ".sqlite3";
    MakeLedger();
    RawDatabase(path_).Run(sql);
    auto ledger = GroupCommitLedger::Open(*SqliteStore::Open(path_), {});
    EXPECT_EQ(ledger.status().code(), absl::StatusCode::kDataLoss) << what;
  }
}

TEST_F(SqliteStoreTest, AMissingFileIsMadeOnlyWhereThatIsWanted) {
  const std::string missing = folder_.path() + "/another.sqlite";
  EXPECT_EQ(SqliteStore::Open(missing, {.create = false}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(missing));
  EXPECT_TRUE(SqliteStore::Open(missing).ok());
  EXPECT_TRUE(SqliteStore::Open(missing, {.create = false}).ok());
}

TEST_F(SqliteStoreTest, AFileThatIsTakenAwayIsMissedBeforeTheNextCommitIsAcknowledged) {
  for (const auto& [ending, link_instead] :
       {std::pair("", false), std::pair("-wal", false), std::pair("-anchor", false),
        std::pair("", true), std::pair("-wal", true), std::pair("-anchor", true)}) {
    SCOPED_TRACE(ending);
    const std::string folder = folder_.path() + "/served" + ending + (link_instead ? "-link" : "");
    std::filesystem::create_directory(folder);
    path_ = folder + "/ledger.sqlite";
    const auto ledger = *GroupCommitLedger::Open(*SqliteStore::Open(path_, {.anchored = true}), {});
    WaitingClient client(*ledger);
    ASSERT_TRUE(client.CreateBudget("adult", 4).ok());
    std::filesystem::rename(path_ + ending, path_ + ending + ".taken");
    if (link_instead) {
      std::filesystem::create_symlink(path_ + ending + ".taken", path_ + ending);
    } else {  // a copy of the same bytes
      std::filesystem::copy_file(path_ + ending + ".taken", path_ + ending);
    }
    const absl::Status next = client.CreateBudget("census", 4);
    EXPECT_EQ(next.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(next.message()), HasSubstr("moved, replaced or removed"));
  }
}

// SQLite deletes the log of an empty database.
TEST_F(SqliteStoreTest, ADatabaseThatIsGoneIsNotMadeAnewBesideItsLogOrAnchor) {
  path_ = folder_.path() + "/ledger.sqlite";
  const std::string killed = folder_.path() + "/killed";
  std::filesystem::create_directory(killed);
  const std::string path = killed + "/ledger.sqlite";
  core::LedgerHead head;
  {
    const auto ledger = *GroupCommitLedger::Open(*SqliteStore::Open(path_, {.anchored = true}), {});
    WaitingClient client(*ledger);
    ASSERT_TRUE(client.CreateBudget("adult", 4).ok());
    head = client.Head("adult");
    for (const char* ending : {"", "-wal", "-anchor"}) {
      std::filesystem::copy_file(path_ + ending, path + ending);
    }
  }
  const auto log_size = std::filesystem::file_size(path + "-wal");
  ASSERT_GT(log_size, 0u);
  std::filesystem::rename(path, path + ".away");
  for (int state = 0; state < 2; ++state) {  // missing, then empty
    if (state == 1) std::ofstream(path).close();
    for (const bool anchored : {false, true}) {
      const absl::Status refused = SqliteStore::Open(path, {.anchored = anchored}).status();
      EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(refused.message()), HasSubstr("put the database back"));
    }
    EXPECT_EQ(VerifySqlite(path).status().code(), absl::StatusCode::kDataLoss);
    std::istringstream nothing;
    EXPECT_FALSE(ImportToSqlite(nothing, path).ok());
    EXPECT_EQ(std::filesystem::file_size(path + "-wal"), log_size);
  }
  std::filesystem::rename(path + ".away", path);
  const auto ledger = *GroupCommitLedger::Open(*SqliteStore::Open(path, {.anchored = true}), {});
  EXPECT_EQ(WaitingClient(*ledger).Head("adult"), head);
}

// Byte 18 says whether a file may be written.
TEST_F(SqliteStoreTest, AFileThatCanOnlyBeReadIsRefusedAtTheStart) {
  MakeLedger();
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18);
  file.put('\x03');
  file.close();
  EXPECT_FALSE(SqliteStore::Open(path_).ok());
}

TEST_F(SqliteStoreTest, AFolderIsHeldByOneServerEvenWithoutItsFiles) {
  path_ = folder_.path() + "/ledger.sqlite";
  const auto first = SqliteStore::Open(path_, {.anchored = true});
  ASSERT_TRUE(first.ok());
  for (const char* ending : {"", "-wal", "-anchor"}) {
    std::filesystem::rename(path_ + ending, path_ + ending + ".taken");
  }
  const auto second = SqliteStore::Open(path_, {.anchored = true});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process holds"));
}

TEST_F(SqliteStoreTest, ItsFilesAreForTheirOwnerAlone) {
  path_ = folder_.path() + "/ledger.sqlite";
  for (int opening = 0; opening < 2; ++opening) {
    const auto store = SqliteStore::Open(path_, {.anchored = true});
    ASSERT_TRUE(store.ok());
    for (const char* ending : {"", "-wal", "-anchor"}) {
      using std::filesystem::perms;
      EXPECT_EQ(std::filesystem::status(path_ + ending).permissions(),
                perms::owner_read | perms::owner_write)
          << path_ << ending;
      // As release 0.1 left them.
      std::filesystem::permissions(path_ + ending, perms::group_read | perms::others_read,
                                   std::filesystem::perm_options::add);
    }
  }
}

TEST_F(SqliteStoreTest, LostCommitsAreRefusedUntilSomebodyAcceptsTheLoss) {
  path_ = folder_.path() + "/ledger.sqlite";
  const auto serve = [&]() { return SqliteStore::Open(path_, {.anchored = true}); };
  const auto copy = [&](const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  };
  core::LedgerHead early;
  {
    const auto ledger = *GroupCommitLedger::Open(*serve(), {});
    WaitingClient client(*ledger);
    ASSERT_TRUE(client.CreateBudget("adult", 4).ok());
    early = client.Head("adult");
  }
  copy(path_, path_ + ".early");
  {
    const auto ledger = *GroupCommitLedger::Open(*serve(), {});
    WaitingClient client(*ledger);
    client.OpenAttempt(client.CreateSession("adult", "run"));
  }
  copy(path_ + ".early", path_);
  for (int time = 0; time < 2; ++time) {  // and looking at it changes nothing
    const absl::Status lost = serve().status();
    EXPECT_EQ(lost.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(lost.message()), HasSubstr("knows 3, the last of them entry 3"));
    EXPECT_THAT(std::string(lost.message()), HasSubstr("holds 1"));
    const auto verified = VerifySqlite(path_);
    ASSERT_TRUE(verified.ok());
    ASSERT_TRUE(verified->front().fault.has_value());
    EXPECT_THAT(verified->front().fault->problem, HasSubstr("acknowledged are gone"));
    std::ostringstream out;
    EXPECT_EQ(ExportSqlite(path_, "adult", out).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_THAT(Lives(), ::testing::ElementsAre("first served"));
  {
    const auto accepted = SqliteStore::Open(path_, {.accept_loss = "the disk died"});
    ASSERT_TRUE(accepted.ok()) << accepted.status();
    EXPECT_THAT((*accepted)->accepted_loss(), HasSubstr("knows 3"));
  }
  EXPECT_THAT(Lives(), ::testing::ElementsAre("first served",
                                              HasSubstr("a loss was accepted: the disk died; ")));
  const auto ledger = *GroupCommitLedger::Open(*serve(), {});
  EXPECT_EQ(WaitingClient(*ledger).Head("adult"), early);
}

TEST_F(SqliteStoreTest, ALostFutureIsFoundAtAnyDistance) {
  ExpectALostFutureIsFoundAtAnyDistance(*OpenLedger());
}

TEST_F(SqliteStoreTest, ACopyIsAnotherIncarnationAndAStartIsNot) {
  const auto serve = [](const std::string& path) {
    const auto store = SqliteStore::Open(path, {.anchored = true});
    EXPECT_TRUE(store.ok()) << store.status();
    return (*store)->Incarnations();
  };
  const auto first = serve(path_);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(serve(path_).back().id, first.back().id);
  const std::string copied = folder_.path() + "/copy.sqlite";
  for (const char* ending : {"", "-anchor"}) {
    std::filesystem::copy_file(path_ + ending, copied + ending);
  }
  const auto second = serve(copied);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second.front().id, first.front().id) << "the first one names the database";
  EXPECT_NE(second.back().id, first.back().id);
  EXPECT_THAT(second.back().reason, HasSubstr("copied or restored"));
  EXPECT_EQ(serve(copied).size(), 2u);
  EXPECT_EQ(serve(path_).size(), 1u) << "the other one goes on";
  // A new name is no copy.
  const std::string renamed = folder_.path() + "/renamed.sqlite";
  for (const char* ending : {"", "-anchor"}) {
    std::filesystem::rename(path_ + ending, renamed + ending);
  }
  EXPECT_EQ(serve(renamed).size(), 1u);
}

TEST_F(SqliteStoreTest, TablesThatAreNotOursAreRefused) {
  for (const char* change :
       {"CREATE TRIGGER t BEFORE INSERT ON charges BEGIN SELECT RAISE(IGNORE); END",
        "DROP TRIGGER entries_never_vanish",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'attempt, "
        "charge_id)', "
        "'attempt, charge_id DESC)') WHERE name = 'charges'"}) {
    SCOPED_TRACE(change);
    path_ = folder_.path() + "/" + std::to_string(std::hash<std::string>()(change));
    MakeLedger();
    ASSERT_EQ(Sql(change), "");
    EXPECT_THAT(std::string(SqliteStore::Open(path_).status().message()),
                ::testing::AnyOf(HasSubstr("changed by somebody"), HasSubstr("is damaged")));
    EXPECT_FALSE(VerifySqlite(path_).ok());
  }
}

TEST_F(SqliteStoreTest, ForeignAndFutureFilesAreRefused) {
  ASSERT_EQ(Sql("CREATE TABLE somebody_elses (x)"), "");
  EXPECT_THAT(std::string(SqliteStore::Open(path_).status().message()),
              HasSubstr("another program"));
  path_ = folder_.path() + "/future.sqlite3";
  MakeLedger();
  ASSERT_EQ(Sql("PRAGMA user_version = 1000"), "");
  EXPECT_THAT(std::string(SqliteStore::Open(path_).status().message()),
              HasSubstr("schema version 1000"));
  path_ = folder_.path() + "/past.sqlite3";
  MakeLedger();
  ASSERT_EQ(Sql("PRAGMA user_version = 1"), "");
  EXPECT_THAT(std::string(SqliteStore::Open(path_).status().message()),
              HasSubstr("version 1, which was never released"));
  path_ = folder_.path() + "/text.sqlite3";
  std::ofstream(path_) << std::string(4096, 'x');
  EXPECT_FALSE(SqliteStore::Open(path_).ok());
  EXPECT_FALSE(SqliteStore::Open(folder_.path() + "/no/such/folder/x").ok());
}

}  // namespace
}  // namespace epsledger::storage
