// What happens beside a migration, and what is in its way. What it does alone, and killed, is
// tests/end_to_end/migrate_test.py.

#include "server/storage/ledger_migration.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <string>

#include "server/storage/data_directory.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/postgres/postgres_database.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger::storage {
namespace {

using ::testing::HasSubstr;

const auto no_progress = [](int64_t) {};

PostgresPhase PhaseOf(const PostgresDatabase& database) {
  PostgresStore::Options options = database.options();
  options.for_migration = true;
  auto store = PostgresStore::Open(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return (*store)->Phase().value();
}

void FillDatabase(const PostgresDatabase& database) {
  auto server = database.Server();
  ASSERT_TRUE(WaitingClient(*server).CreateBudget("b", 1).ok());
}

// Whoever sat before the terminal of the first is gone, and somebody takes it back.
TEST(Migration, ThatIsTakenBackWhileItRunsPublishesNothing) {
  const PostgresDatabase database;
  FillDatabase(database);
  const ScratchFolder folder;
  absl::StatusOr<MigrationReport> taken_back = absl::UnavailableError("not called");
  const auto moved = MigrateToSqlite(database.options(), folder.path(), [&](int64_t) {
    taken_back = MigrateToPostgres(folder.path(), database.options(), no_progress);
  });
  ASSERT_TRUE(taken_back.ok()) << taken_back.status();
  EXPECT_FALSE(moved.ok());
  EXPECT_EQ(PhaseOf(database), PostgresPhase::kOpen);
  EXPECT_FALSE(std::filesystem::exists(DatabaseIn(folder.path())));
  EXPECT_FALSE(std::filesystem::exists(TakenBackDatabaseIn(folder.path())));
  auto server = database.Server();
  EXPECT_TRUE(WaitingClient(*server).CreateBudget("c", 1).ok());
}

TEST(Migration, GoesOnTakingBackWhereItWasInterrupted) {
  const PostgresDatabase database;
  FillDatabase(database);
  const ScratchFolder folder;
  PostgresStore::Options options = database.options();
  options.for_migration = true;
  for (const PostgresPhase phase : {PostgresPhase::kMoved, PostgresPhase::kOpen}) {
    ASSERT_TRUE((*PostgresStore::Open(options))->SetPhase(phase).ok());
    ASSERT_TRUE(SqliteStore::Open(TakenBackDatabaseIn(folder.path())).ok());
    EXPECT_EQ(MigrateToSqlite(database.options(), folder.path(), no_progress).status().code(),
              kRefused);
    const auto taken_back = MigrateToPostgres(folder.path(), database.options(), no_progress);
    ASSERT_TRUE(taken_back.ok()) << taken_back.status();
    EXPECT_EQ(PhaseOf(database), PostgresPhase::kOpen);
    EXPECT_FALSE(std::filesystem::exists(TakenBackDatabaseIn(folder.path())));
  }
}

TEST(Migration, DoesNotReplaceALedgerThatAServerBeganMeanwhile) {
  const PostgresDatabase database;
  FillDatabase(database);
  const ScratchFolder folder;
  const auto moved = MigrateToSqlite(database.options(), folder.path(), [&](int64_t) {
    auto begun = SqliteStore::Open(DatabaseIn(folder.path()));
    ASSERT_TRUE(begun.ok()) << begun.status();
    auto server = GroupCommitLedger::Open(*std::move(begun), {});
    ASSERT_TRUE(server.ok()) << server.status();
    ASSERT_TRUE(WaitingClient(**server).CreateBudget("begun-here", 1).ok());
  });
  EXPECT_FALSE(moved.ok());
  auto server = GroupCommitLedger::Open(*SqliteStore::Open(DatabaseIn(folder.path())), {});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(WaitingClient(**server).Head("begun-here").sequence, 1);
}

TEST(Migration, OfAnotherLedgerLeavesTheDatabaseAsItIs) {
  const PostgresDatabase database;
  FillDatabase(database);
  const ScratchFolder right;
  const ScratchFolder wrong;
  PostgresStore::Options options = database.options();
  options.for_migration = true;
  ASSERT_TRUE((*PostgresStore::Open(options))->SetPhase(PostgresPhase::kMoved).ok());
  ASSERT_TRUE(SqliteStore::Open(UnfinishedDatabaseIn(right.path())).ok());
  {
    auto server = GroupCommitLedger::Open(*SqliteStore::Open(DatabaseIn(wrong.path())), {});
    ASSERT_TRUE(WaitingClient(**server).CreateBudget("of-another", 1).ok());
  }
  const auto refused = MigrateToPostgres(wrong.path(), database.options(), no_progress);
  EXPECT_EQ(refused.status().code(), kRefused) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("another ledger"));
  EXPECT_EQ(PhaseOf(database), PostgresPhase::kMoved);
  // So that the right one goes on.
  const auto moved = MigrateToSqlite(database.options(), right.path(), no_progress);
  EXPECT_TRUE(moved.ok()) << moved.status();
}

}  // namespace
}  // namespace epsledger::storage
