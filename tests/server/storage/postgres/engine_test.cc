// The engines beside PostgreSQL, as far as a PostgreSQL in their dialect can show anything of them
// (tests/postgres/engine_dialect.h). None of this was run on the engines themselves.

#include "server/storage/postgres/engine/engine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "server/storage/postgres/inspection.h"
#include "tests/server/storage/postgres/engine_database.h"
#include "tests/server/storage/sample_entries.h"

namespace epsledger::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status OpenedEngine(const PostgresStore::Options& options) {
  return PostgresStore::Open(options).status();
}

std::unique_ptr<PostgresConnection> SessionOf(const PostgresStore::Options& options) {
  return *PostgresStore::ConnectToRead(options);
}

TEST(PostgresEngineOf, KnowsThreeEnginesAndRefusesEveryOther) {
  const struct {
    const char* version;
    const PostgresEngine* engine;  // null: refused
  } cases[] = {
      {"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc",
       &kPostgresql},
      {"PostgreSQL 18beta1 on aarch64-apple-darwin", &kPostgresql},
      {"PostgreSQL 14.9 on x86_64-pc-linux-gnu", nullptr},
      {"PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.77467", nullptr},
      {"PostgreSQL 16.1 (Cloudberry Database 2.0.0) on x86_64", nullptr},
      {"CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15)", &kCockroachdb},
      {"CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/01)", &kCockroachdb},
      {"CockroachDB CCL v23.2.12 (x86_64-pc-linux-gnu, built 2024/09/01)", nullptr},
      {"PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu", &kYugabytedb},
      {"PostgreSQL 15.12-YB-2025.1.0.0-b168 on x86_64-pc-linux-gnu", &kYugabytedb},
      {"PostgreSQL 11.2-YB-2.18.4.0-b0 on x86_64-pc-linux-gnu", nullptr},
      {"CrateDB 5.7.2", nullptr},
      {"a fork of PostgreSQL 15.2", nullptr},
      {"", nullptr},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.version);
    const absl::StatusOr<const PostgresEngine*> engine = PostgresEngineOf(one.version);
    if (one.engine != nullptr) {
      ASSERT_TRUE(engine.ok()) << engine.status();
      EXPECT_EQ(*engine, one.engine);
      continue;
    }
    EXPECT_EQ(engine.status().code(), kRefused);
    EXPECT_THAT(std::string(engine.status().message()),
                AllOf(HasSubstr(one.version), HasSubstr("want PostgreSQL 15 or later")));
  }
}

class EnginesInDialect : public ::testing::TestWithParam<EngineDialect> {};

TEST_P(EnginesInDialect, AreRefusedUntilTheRiskIsTaken) {
  const EngineDatabase database(GetParam());
  PostgresStore::Options options = database.options();
  EXPECT_TRUE(OpenedEngine(options).ok()) << OpenedEngine(options);
  options.untested_engine = false;
  const absl::Status refused = OpenedEngine(options);
  EXPECT_EQ(refused.code(), kRefused) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("never run on"), HasSubstr("--postgres-untested-engine")));
}

// The layer itself: what it does not refuse, the other tests say nothing about.
TEST_P(EnginesInDialect, LackWhatTheEngineLacks) {
  const EngineDatabase database(GetParam());
  const auto session = SessionOf(database.options());
  for (const char* statement :
       {"BEGIN; LOCK TABLE ledgers IN EXCLUSIVE MODE; COMMIT", "LISTEN heads",
        "SELECT pg_advisory_lock(1)", "SELECT 1 FROM pg_control_system()",
        "SELECT 1 FROM pg_logical_emit_message(true, 'epsledger', 'seen')"}) {
    EXPECT_FALSE(session->Execute(statement).ok()) << statement;
  }
  const bool is_cockroachdb = GetParam() == EngineDialect::kCockroachdb;
  EXPECT_EQ(session->ReadText("SHOW fsync").ok(), !is_cockroachdb);
  EXPECT_EQ(session->Execute("CREATE TEMPORARY TABLE t (a TEXT COLLATE \"C\")").ok(),
            !is_cockroachdb);
  EXPECT_EQ(session->Execute("CREATE TEMPORARY TABLE u (a TEXT, PRIMARY KEY (a))").ok(),
            is_cockroachdb);
}

TEST_P(EnginesInDialect, TwoServersTogetherAcceptExactlyTheCap) {
  constexpr int kUnits = 40;
  constexpr int kThreads = 8;
  const EngineDatabase database(GetParam());
  const std::unique_ptr<GroupCommitLedger> servers[] = {database.Server(), database.Server()};
  WaitingClient clients[] = {WaitingClient(*servers[0]), WaitingClient(*servers[1])};
  ASSERT_TRUE(clients[0].CreateBudget("b", kUnits * kStep).ok());
  const core::SessionName run = clients[0].CreateSession("b", "run");
  ASSERT_EQ(clients[0].OpenAttempt(run), 1);
  std::atomic<int> accepted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto record = ChargeUntilKnown(clients[t % 2], run, 1, absl::StrCat(t, "-", i),
                                             accounting::PureDp{kStep});
        ASSERT_TRUE(record.ok()) << record.status();
        accepted += Accepted(record);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kUnits);
  for (int s = 0; s < 2; ++s) {
    EXPECT_EQ(clients[s].Spent("b"), core::Cost::RoundUp(kUnits * kStep));
    ExpectMemoryIsWhatIsStored(*servers[s], "b");
  }
  EXPECT_EQ(database.database().Sql("SELECT count(*) FROM charges"), absl::StrCat(kThreads * 10));
}

// Without LOCK TABLE.
TEST_P(EnginesInDialect, ANewPhaseWaitsForTheTransactionsThatReadTheOldOne) {
  const EngineDatabase database(GetParam());
  const auto ignore = [](const std::string&, const core::Entry&) { return absl::OkStatus(); };
  PostgresStore::Options for_migration = database.options();
  for_migration.for_migration = true;
  const auto tool = PostgresStore::Open(for_migration);
  ASSERT_TRUE(tool.ok()) << tool.status();
  auto before = database.Store();
  ASSERT_TRUE(before->Begin().ok());
  const auto held = before->Hold({"a"}, ignore);
  ASSERT_TRUE(held.ok()) << held.status();
  std::thread mover([&] {
    const absl::Status set = (*tool)->SetPhase(PostgresPhase::kMoved);
    EXPECT_TRUE(set.ok()) << set;
  });
  EXPECT_TRUE(database.database().WaitForLockWaiters(1));
  EXPECT_TRUE(before->Append("a", MakeEntries("a", 0)[0]).ok());
  EXPECT_TRUE(before->Commit().ok());
  mover.join();
  EXPECT_FALSE(*(*tool)->IsEmpty());
  ASSERT_TRUE(before->Begin().ok());
  EXPECT_EQ(before->Hold({"a"}, ignore).status().code(), kRefused);
}

TEST_P(EnginesInDialect, AreVerifiedAndExportedLikePostgresql) {
  const EngineDatabase database(GetParam());
  {
    const auto server = database.Server();
    WaitingClient client(*server);
    ASSERT_TRUE(client.CreateBudget("b", 1).ok());
    const core::SessionName run = client.CreateSession("b", "run");
    ASSERT_EQ(client.OpenAttempt(run), 1);
    for (int i = 0; i < 70; ++i) {
      ASSERT_TRUE(client.Charge(run, 1, std::to_string(i), accounting::PureDp{kStep}).ok());
    }
  }
  const auto reports = VerifyPostgres(database.options());
  ASSERT_TRUE(reports.ok()) << reports.status();
  ASSERT_EQ(reports->size(), 1u);
  EXPECT_FALSE(reports->front().fault.has_value()) << reports->front().fault->problem;
  EXPECT_GT(reports->front().head.sequence, 70);
  std::ostringstream out;
  const auto report = ExportPostgres(database.options(), "b", out);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->head.hash, reports->front().head.hash);
  database.database().Sql("DELETE FROM charges WHERE charge_id = '69'");
  EXPECT_TRUE(VerifyPostgres(database.options())->front().fault.has_value());
}

TEST_P(EnginesInDialect, OneIncarnationForAllServers) {
  const EngineDatabase database(GetParam());
  std::vector<std::unique_ptr<PostgresStore>> stores(4);
  std::vector<std::thread> threads;
  for (auto& store : stores) threads.emplace_back([&] { store = database.Store(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& store : stores) {
    ASSERT_NE(store, nullptr);
    ASSERT_EQ(store->Incarnations().size(), 1u);
    EXPECT_EQ(store->Incarnations().front().id, stores[0]->Incarnations().front().id);
  }
  EXPECT_THAT(database.database().Sql("SELECT place FROM incarnations"),
              HasSubstr("6c1a5b0e-0000-4000-8000-000000000001/"));
}

INSTANTIATE_TEST_SUITE_P(Dialects, EnginesInDialect,
                         ::testing::Values(EngineDialect::kCockroachdb, EngineDialect::kYugabytedb),
                         [](const auto& test) {
                           return test.param == EngineDialect::kCockroachdb ? "Cockroachdb"
                                                                            : "Yugabytedb";
                         });

TEST(Cockroachdb, IsRefusedWhereItMayLoseWhatItAcknowledges) {
  const EngineDatabase database(EngineDialect::kCockroachdb);
  PostgresStore::Options alone = database.options();
  alone.without_standby = true;
  const auto sql = [&](const std::string& statement) { database.database().Sql(statement); };
  const auto set = [&](const std::string& value) {
    sql("UPDATE dialect.settings SET value = '" + value +
        "' WHERE name = 'kv.raft_log.synchronization.unsafe.disabled'");
  };
  set("true");
  for (const auto& options : {database.options(), alone}) {
    const absl::Status status = OpenedEngine(options);
    EXPECT_EQ(status.code(), kRefused) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("kv.raft_log.synchronization.unsafe.disabled is true"));
  }
  set("false");
  sql("UPDATE dialect.zones SET num_replicas = 1");
  EXPECT_TRUE(OpenedEngine(alone).ok()) << OpenedEngine(alone);
  const absl::Status status = OpenedEngine(database.options());
  EXPECT_EQ(status.code(), kRefused) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("num_replicas"), HasSubstr("is 1, want 3"),
                    HasSubstr("--postgres-without-standby")));
  sql("UPDATE dialect.zones SET num_replicas = 5");

  // A setting that is changed later is found without anybody asking.
  const auto server = database.Server();
  set("true");
  EXPECT_TRUE(Until([&] { return !server->Health().ok(); }));
  EXPECT_THAT(std::string(server->Health().message()), HasSubstr("kv.raft_log"));
  EXPECT_EQ(WaitingClient(*server).CreateBudget("b", 1).code(), absl::StatusCode::kUnavailable);
  set("false");
  EXPECT_TRUE(Until([&] { return server->Health().ok(); }));
  EXPECT_TRUE(WaitingClient(*server).CreateBudget("b", 1).ok());
}

TEST(Cockroachdb, TheServersDoNotOwnTheTables) {
  const EngineDatabase database(EngineDialect::kCockroachdb);
  const absl::Status as_owner = OpenedEngine(database.owner());
  EXPECT_EQ(as_owner.code(), kRefused) << as_owner;
  EXPECT_THAT(std::string(as_owner.message()), HasSubstr("can update or delete"));
  database.database().Sql("GRANT UPDATE ON incarnations TO " + database.database().name() +
                          "_writer");
  const absl::Status as_writer = OpenedEngine(database.options());
  EXPECT_EQ(as_writer.code(), kRefused) << as_writer;
  EXPECT_THAT(std::string(as_writer.message()), HasSubstr("incarnations"));
  database.database().Sql("DROP TABLE epsledger");
  const absl::Status unprepared = OpenedEngine(database.options());
  EXPECT_EQ(unprepared.code(), kRefused) << unprepared;
  EXPECT_THAT(std::string(unprepared.message()), HasSubstr("epsledgerd ledger prepare"));
}

// With autocommit_before_ddl on, a failure in the middle would leave some of the tables.
TEST(Cockroachdb, MakesAllTablesOrNone) {
  const EngineDatabase database(EngineDialect::kCockroachdb);
  const std::string tables =
      "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'epsledger'";
  database.database().Sql(
      "DROP TABLE ledgers, budgets, entries, charges, charge_blocks, incarnations, epsledger;"
      "CREATE TABLE charge_blocks (title TEXT)");
  const std::string writer = database.database().name() + "_writer";
  EXPECT_FALSE(PreparePostgres(database.owner(), writer).ok());
  EXPECT_EQ(database.database().Sql(tables), "1");
  database.database().Sql("DROP TABLE charge_blocks");
  const absl::Status prepared = PreparePostgres(database.owner(), writer);
  EXPECT_TRUE(prepared.ok()) << prepared;
  EXPECT_EQ(database.database().Sql(tables), "6");
}

TEST(Yugabytedb, IsRefusedWhereItMayLoseWhatItAcknowledges) {
  const EngineDatabase database(EngineDialect::kYugabytedb);
  const auto set = [&](const std::string& name, const std::string& value) {
    database.database().Sql("UPDATE dialect.settings SET value = '" + value + "' WHERE name = '" +
                            name + "'");
  };
  set("isolation", "repeatable read");
  const absl::Status snapshot = OpenedEngine(database.options());
  EXPECT_EQ(snapshot.code(), kRefused) << snapshot;
  EXPECT_THAT(std::string(snapshot.message()), HasSubstr("--yb_enable_read_committed_isolation"));
  set("isolation", "read committed");
  set("servers", "1");
  const absl::Status one = OpenedEngine(database.options());
  EXPECT_EQ(one.code(), kRefused) << one;
  EXPECT_THAT(std::string(one.message()), HasSubstr("has 1 servers, want 3"));
  PostgresStore::Options alone = database.options();
  alone.without_standby = true;
  EXPECT_TRUE(OpenedEngine(alone).ok()) << OpenedEngine(alone);
}

// Each table is made in a transaction of its own.
TEST(Yugabytedb, GoesOnWithTablesThatAreMadeInPart) {
  const EngineDatabase database(EngineDialect::kYugabytedb);
  ASSERT_TRUE(OpenedEngine(database.options()).ok());
  database.database().Sql("UPDATE epsledger SET schema_version = 0; DROP TABLE charges, entries");
  const absl::Status again = OpenedEngine(database.options());
  EXPECT_TRUE(again.ok()) << again;
  EXPECT_EQ(database.database().Sql("SELECT schema_version FROM epsledger"), "1");
}

// 40001 at the commit: on PostgreSQL nothing is durable, here nobody knows.
TEST(Yugabytedb, AnAbortedCommitIsAnUnknownOutcome) {
  const EngineDatabase yugabytedb(EngineDialect::kYugabytedb);
  const PostgresDatabase postgresql;
  const auto commit = [](PostgresStore& store, const PostgresDatabase& database) {
    database.ForTheFirstInserts(1, "RAISE EXCEPTION USING ERRCODE = '40001'", true);
    database.Sql("GRANT USAGE ON SEQUENCE trouble TO PUBLIC");
    EXPECT_TRUE(store.Begin().ok());
    EXPECT_TRUE(store.Append("a", MakeEntries("a", 0)[0]).ok());
    const absl::Status status = store.Commit();
    EXPECT_TRUE(store.Rollback().ok());
    return status.code();
  };
  EXPECT_EQ(commit(*postgresql.Store(), postgresql), absl::StatusCode::kAborted);
  EXPECT_EQ(commit(*yugabytedb.Store(), yugabytedb.database()), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace epsledger::storage
