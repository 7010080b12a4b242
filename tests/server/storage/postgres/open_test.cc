// What a server makes of a database before it serves from it: settings, schema, phase, password.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <barrier>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/storage/lost_future.h"
#include "tests/server/storage/postgres/postgres_database.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status Opened(const PostgresStore::Options& options) {
  return PostgresStore::Open(options).status();
}

TEST(PostgresOpen, RefusesSettingsThatLoseWhatIsAcknowledged) {
  const auto cluster = PostgresCluster::Start();
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const PostgresDatabase database(cluster->get());
  PostgresStore::Options one_machine = database.options();
  PostgresStore::Options with_standby = one_machine;
  with_standby.without_standby = false;

  const struct {
    std::string setting;
    std::string value;
    std::string good;
    std::string wish;
    bool refused_without_standby = true;
  } cases[] = {
      {"fsync", "off", "on", "want \"on\""},
      {"full_page_writes", "off", "on", "want \"on\""},
      {"synchronous_commit", "off", "on", "want \"on\" or \"remote_apply\""},
      {"synchronous_commit", "local", "on", "want \"on\" or \"remote_apply\"", false},
      {"synchronous_commit", "remote_write", "on", "want \"on\" or \"remote_apply\"", false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.setting + "=" + one.value);
    ASSERT_TRUE((*cluster)->Configure({one.setting + "=" + one.value}).ok());
    for (const auto* options : {&one_machine, &with_standby}) {
      const absl::Status status = Opened(*options);
      if (!one.refused_without_standby && options->without_standby) {
        EXPECT_TRUE(status.ok()) << status;
        continue;
      }
      EXPECT_EQ(status.code(), kRefused) << status;
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr(one.setting), HasSubstr("is \"" + one.value + "\""),
                        HasSubstr(one.wish)));
    }
    ASSERT_TRUE((*cluster)->Configure({one.setting + "=" + one.good}).ok());
  }
  EXPECT_TRUE(Opened(one_machine).ok());
  const absl::Status alone = Opened(with_standby);
  EXPECT_EQ(alone.code(), kRefused) << alone;
  EXPECT_THAT(std::string(alone.message()), AllOf(HasSubstr("synchronous_standby_names is empty"),
                                                  HasSubstr("want a synchronous standby"),
                                                  HasSubstr("--postgres-without-standby")));
  ASSERT_TRUE((*cluster)->Configure({"synchronous_commit=remote_apply"}).ok());
  EXPECT_TRUE(Opened(one_machine).ok());

  // A setting that is broken later is found without anybody asking.
  auto server = database.Server();
  ASSERT_TRUE((*cluster)->Configure({"fsync=off"}).ok());
  EXPECT_TRUE(Until([&] { return !server->Health().ok(); }));
  EXPECT_THAT(std::string(server->Health().message()), HasSubstr("fsync"));
  EXPECT_EQ(WaitingClient(*server).CreateBudget("b", 1).code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE((*cluster)->Configure({"fsync=on"}).ok());
  EXPECT_TRUE(Until([&] { return server->Health().ok(); }));
  EXPECT_TRUE(WaitingClient(*server).CreateBudget("b", 1).ok());
  // What a session commits with is its own.
  ASSERT_TRUE((*cluster)->Configure({"synchronous_commit=off"}).ok());
  auto store = PostgresStore::Open(one_machine);
  EXPECT_EQ(store.status().code(), kRefused);
  EXPECT_TRUE(WaitingClient(*server).CreateBudget("c", 1).ok());
}

TEST(PostgresOpen, EightServersMayMakeTheTablesAtOnce) {
  constexpr int kServers = 8;
  for (int round = 0; round < 4; ++round) {
    const PostgresDatabase database;
    std::barrier together(kServers);
    std::vector<absl::Status> opened(kServers);
    std::vector<std::thread> servers;
    for (int s = 0; s < kServers; ++s) {
      servers.emplace_back([&, s] {
        together.arrive_and_wait();
        opened[s] = Opened(database.options());
      });
    }
    for (std::thread& server : servers) server.join();
    for (const absl::Status& status : opened) EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(database.Sql("SELECT count(*), max(schema_version), max(phase) FROM epsledger"),
              "1|1|open");
  }
}

TEST(PostgresOpen, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const std::string& sql, const std::string& why, bool made_before) {
    SCOPED_TRACE(sql);
    const PostgresDatabase database;
    if (made_before) {
      EXPECT_TRUE(Opened(database.options()).ok());
    }
    database.Sql(sql);
    const std::string tables =
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'epsledger'";
    const std::string before = database.Sql(tables);
    const absl::Status status = Opened(database.options());
    EXPECT_EQ(status.code(), kRefused) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_EQ(database.Sql(tables), before);
  };
  refused("UPDATE epsledger SET schema_version = 2", "run a newer server", true);
  refused("UPDATE epsledger SET schema_version = -1", "another program", true);
  refused("DELETE FROM epsledger; ALTER TABLE epsledger DROP COLUMN phase", "another program",
          true);
  refused("UPDATE epsledger SET phase = 'upside down'", "upside down", true);
  refused("CREATE TABLE epsledger (title TEXT)", "another program", false);
  refused("CREATE TABLE entries (title TEXT)", "another program", false);
  refused("CREATE TABLE ledgers (title TEXT); CREATE TABLE customers (name TEXT)",
          "another program", false);
}

// Also those that are in the middle of a transaction and those that wait for one.
TEST(PostgresOpen, AMigrationRefusesServersAlsoThoseThatRun) {
  const PostgresDatabase database;
  auto server = database.Server();
  auto other = database.Server();
  WaitingClient client(*server);
  ASSERT_TRUE(client.CreateBudget("b", 1).ok());
  PostgresStore::Options tool_options = database.options();
  tool_options.for_migration = true;
  auto tool = PostgresStore::Open(tool_options);
  ASSERT_TRUE(tool.ok()) << tool.status();
  const auto ignore = [](const std::string&, const core::Entry&) { return absl::OkStatus(); };

  for (const PostgresPhase phase : {PostgresPhase::kMoved, PostgresPhase::kReceiving}) {
    const std::string why =
        phase == PostgresPhase::kMoved ? "moved elsewhere" : "has not brought all";
    auto running = database.Store();
    auto reading = database.Store();
    const absl::Status set = (*tool)->SetPhase(phase);
    ASSERT_TRUE(set.ok()) << set;
    ASSERT_TRUE(running->Begin().ok());
    const auto held = running->Hold({"b"}, ignore);
    EXPECT_EQ(held.status().code(), kRefused) << held.status();
    EXPECT_THAT(std::string(held.status().message()), HasSubstr(why));
    EXPECT_TRUE(running->Rollback()->empty());
    const auto caught_up = reading->CatchUp(ignore);
    EXPECT_EQ(caught_up.status().code(), kRefused) << caught_up.status();
    const absl::Status opened = Opened(database.options());
    EXPECT_EQ(opened.code(), kRefused) << opened;
    EXPECT_THAT(std::string(opened.message()), HasSubstr(why));

    EXPECT_EQ(client.CreateBudget("c", 1).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(client.Read([](core::LedgerReader&) { return 0; }).status().code(),
              absl::StatusCode::kUnavailable);
    EXPECT_TRUE(Until([&] { return !other->Health().ok(); }));
    EXPECT_THAT(std::string(other->Health().message()), HasSubstr(why));
    ASSERT_TRUE((*tool)->SetPhase(PostgresPhase::kOpen).ok());
    EXPECT_TRUE(Until([&] { return server->Health().ok() && other->Health().ok(); }));
  }
  EXPECT_TRUE(client.CreateBudget("c", 1).ok());

  // A transaction that began before is over when SetPhase returns.
  auto before = database.Store();
  ASSERT_TRUE(before->Begin().ok());
  ASSERT_TRUE(before->Hold({"b"}, ignore).ok());
  std::thread mover([&] { EXPECT_TRUE((*tool)->SetPhase(PostgresPhase::kMoved).ok()); });
  EXPECT_TRUE(database.WaitForLockWaiters(1));
  EXPECT_TRUE(before->Commit().ok());
  mover.join();
}

// Two servers are replaced one after the other: the one that still runs must not go on beside one
// that has changed the tables.
TEST(PostgresOpen, AServerStopsServingWhenANewerOneHasChangedTheSchema) {
  const PostgresDatabase database;
  auto server = database.Server();
  WaitingClient client(*server);
  ASSERT_TRUE(client.CreateBudget("b", 1).ok());
  database.Sql("UPDATE epsledger SET schema_version = schema_version + 1");
  EXPECT_EQ(client.CreateBudget("c", 1).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Until([&] { return !server->Health().ok(); }));
  EXPECT_THAT(std::string(server->Health().message()), HasSubstr("run a newer server"));
  EXPECT_EQ(database.Sql("SELECT count(*) FROM budgets"), "1");
  database.Sql("UPDATE epsledger SET schema_version = schema_version - 1");
  EXPECT_TRUE(Until([&] { return server->Health().ok(); }));
  EXPECT_TRUE(client.CreateBudget("c", 1).ok());
}

// As an ordinary user that owns the database, with a password from a file that may change.
TEST(PostgresOpen, ReadsThePasswordFileWheneverItConnects) {
  const auto cluster = PostgresCluster::Start();
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const PostgresDatabase database(cluster->get());
  database.Sql("CREATE ROLE keeper LOGIN PASSWORD 'pass''word one'; ALTER DATABASE " +
               database.name() + " OWNER TO keeper");
  std::ofstream((*cluster)->data_folder() + "/pg_hba.conf")
      << "local all all trust\nhost all keeper 127.0.0.1/32 scram-sha-256\n"
         "host all postgres 127.0.0.1/32 trust\n";
  database.Sql("SELECT pg_reload_conf()");

  const ScratchFolder folder;
  const std::string file = folder.path() + "/password";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  PostgresStore::Options options = database.options();
  options.conninfo += " user=keeper";
  EXPECT_TRUE(Until([&] { return !Opened(options).ok(); }));  // reloaded
  options.password_file = file;
  const absl::Status missing = Opened(options);
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound) << missing;
  write("wrong\n");
  const absl::Status wrong = Opened(options);
  EXPECT_EQ(wrong.code(), absl::StatusCode::kFailedPrecondition) << wrong;
  EXPECT_THAT(std::string(wrong.message()), Not(HasSubstr("wrong")));
  write("pass'word one\nand more\n");
  auto store = PostgresStore::Open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  auto server = GroupCommitLedger::Open(*std::move(store), {});
  ASSERT_TRUE(server.ok()) << server.status();
  WaitingClient client(**server);
  ASSERT_TRUE(client.CreateBudget("b", 1).ok());
  // What is written stays written, for its owner too.
  EXPECT_THAT(std::string((*cluster)
                              ->Sql(database.name(), "SET ROLE keeper; DELETE FROM entries")
                              .status()
                              .message()),
              HasSubstr("permission denied"));

  write("two");
  database.Sql(
      "ALTER ROLE keeper PASSWORD 'two'; SELECT pg_terminate_backend(pid)"
      " FROM pg_stat_activity WHERE usename = 'keeper'");
  EXPECT_TRUE(Until([&] { return client.CreateBudget("c", 1).ok(); }));
}

TEST(PostgresOpen, ALostFutureIsFoundAtAnyDistance) {
  const PostgresDatabase database;
  ExpectALostFutureIsFoundAtAnyDistance(*database.Server());
}

TEST(PostgresOpen, AnotherDatabaseIsAnotherIncarnation) {
  const PostgresDatabase database;
  const auto first = database.Store()->Incarnations();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first.back().reason, "first served");
  EXPECT_EQ(database.Store()->Incarnations().back().id, first.back().id);
  const std::string copy = database.name() + "_copy";
  ASSERT_TRUE(database.cluster()
                  .Sql("postgres", "CREATE DATABASE " + copy + " TEMPLATE " + database.name())
                  .ok());
  PostgresStore::Options options = database.options();
  options.conninfo = database.cluster().ConnectionString(copy);
  for (int time = 0; time < 2; ++time) {
    const auto store = PostgresStore::Open(options);
    ASSERT_TRUE(store.ok()) << store.status();
    const auto second = (*store)->Incarnations();
    ASSERT_EQ(second.size(), 2u);
    EXPECT_EQ(second.front().id, first.front().id);
    EXPECT_THAT(second.back().reason, HasSubstr("restored or copied"));
  }
  EXPECT_EQ(database.Store()->Incarnations().size(), 1u) << "the other one goes on";
}

}  // namespace
}  // namespace epsledger::storage
