#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_SAMPLE_LEDGER_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_SAMPLE_LEDGER_H_

// A small ledger in a file, with every table in use: charges that were accepted and refused, a
// lease that was settled, a budget that was superseded.

#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {

inline std::unique_ptr<GroupCommitLedger> OpenServerLedger(const std::string& path) {
  auto store = SqliteStore::Open(path);
  EXPECT_TRUE(store.ok()) << store.status();
  auto ledger = GroupCommitLedger::Open(*std::move(store), GroupCommitLedger::Options());
  EXPECT_TRUE(ledger.ok()) << ledger.status();
  return *std::move(ledger);
}

// Makes the database `path` with the ledger "b" and returns its head.
inline core::LedgerHead MakeSampleLedger(const std::string& path) {
  const auto ledger = OpenServerLedger(path);
  WaitingClient client(*ledger, 1'700'000'000'000'000);
  EXPECT_TRUE(client.CreateBudget("b", 1).ok());
  const core::SessionName session = client.CreateSession("b", "s");
  const int64_t attempt = client.OpenAttempt(session);
  for (const char* id : {"one", "two", "three"}) {
    EXPECT_TRUE(client.Charge(session, attempt, id, accounting::PureDp{0.25}).ok());
  }
  core::Charge lease =
      WaitingClient::MakeCharge(session, attempt, "lease", accounting::PureDp{0.125});
  lease.lease_expire_time_micros = 1'800'000'000'000'000;
  EXPECT_TRUE(client.Run(lease).ok());
  EXPECT_TRUE(client.Run(core::SettleLease{session, attempt, "lease", 1}).ok());
  EXPECT_TRUE(client.Charge(session, attempt, "too much", accounting::PureDp{0.25}).ok());
  EXPECT_TRUE(
      client.Run(core::SupersedeBudget{"b", "c", core::PureEpsilonCap{2}, "more people"}).ok());
  return client.Head("b");
}

// A connection that may change the file in ways that a server may not.
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
    Run("PRAGMA journal_mode = MEMORY");
    Run("PRAGMA synchronous = OFF");
    sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  }
  ~RawDatabase() { sqlite3_close(database_); }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  void Run(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sql << ": " << sqlite3_errmsg(database_);
  }
  // Returns rows of texts; blobs are hexadecimal digits if the query uses hex().
  std::vector<std::vector<std::string>> Rows(const std::string& sql) {
    std::vector<std::vector<std::string>> rows;
    sqlite3_exec(
        database_, sql.c_str(),
        [](void* out, int columns, char** texts, char**) {
          auto& row = static_cast<std::vector<std::vector<std::string>>*>(out)->emplace_back();
          for (int i = 0; i < columns; ++i) row.emplace_back(texts[i] == nullptr ? "" : texts[i]);
          return 0;
        },
        &rows, nullptr);
    return rows;
  }

 private:
  sqlite3* database_ = nullptr;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_SAMPLE_LEDGER_H_
