#include "tests/postgres/postgres_cluster.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;

// What a test goes on with, or the end of it with the reason.
template <class T>
T Valid(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    std::abort();
  }
  return *std::move(value);
}

// What was printed, or the error.
std::string Said(const absl::StatusOr<std::string>& output) {
  return output.ok() ? *output : output.status().ToString();
}

TEST(PostgresCluster, GivesEveryTestADatabaseOfItsOwn) {
  PostgresCluster* const cluster = Valid(PostgresCluster::Shared());
  EXPECT_EQ(Valid(PostgresCluster::Shared()), cluster);
  const std::string first = Valid(cluster->CreateDatabase());
  const std::string second = Valid(cluster->CreateDatabase());
  EXPECT_NE(first, second);
  EXPECT_EQ(Said(cluster->Sql(first, "CREATE TABLE here (x int); SELECT 1, 'two'; SELECT 3")),
            "1|two\n3");
  EXPECT_THAT(Said(cluster->Sql(second, "SELECT * FROM here; SELECT 'not reached'")),
              AllOf(HasSubstr("relation \"here\" does not exist"), Not(HasSubstr("not reached"))));
}

TEST(PostgresCluster, IsAsDurableAsPostgresIsByDefault) {
  PostgresCluster* const cluster = Valid(PostgresCluster::Shared());
  EXPECT_EQ(Said(cluster->Sql("postgres",
                              "SHOW fsync; SHOW synchronous_commit; "
                              "SHOW full_page_writes; SHOW server_encoding; "
                              "SHOW lc_collate; SHOW default_transaction_isolation")),
            "on\non\non\nUTF8\nC\nread committed");
}

TEST(PostgresCluster, TakesSettingsAtItsStartAndLater) {
  const std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start(
      {.settings = {"fsync=off", "cluster_name=it's = mine", "max_prepared_transactions=7"}}));
  const std::string show = "SHOW fsync; SHOW max_prepared_transactions";
  EXPECT_EQ(Said(cluster->Sql("postgres", show)), "off\n7");
  EXPECT_EQ(Said(cluster->Sql("postgres", "SHOW cluster_name")), "it's = mine");
  ASSERT_TRUE(cluster->Configure({"fsync=on", "max_prepared_transactions=8"}).ok());
  EXPECT_EQ(Said(cluster->Sql("postgres", show)), "on\n7");
  ASSERT_TRUE(cluster->Stop().ok());
  ASSERT_TRUE(cluster->Restart().ok());
  EXPECT_EQ(Said(cluster->Sql("postgres", show)), "on\n8");
}

TEST(PostgresCluster, KeepsWhatWasCommittedWhenItIsKilled) {
  const std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start());
  const std::string database = Valid(cluster->CreateDatabase());
  ASSERT_EQ(Said(cluster->Sql(database, "CREATE TABLE numbers (n int)")), "");
  const int port = cluster->port();
  for (int round = 1; round <= 3; ++round) {
    ASSERT_EQ(
        Said(cluster->Sql(database, absl::StrCat("INSERT INTO numbers VALUES (", round, ")"))), "");
    // A session that sits in a transaction, and one that waits for it.
    std::thread holder([&] {
      EXPECT_FALSE(cluster->Sql(database, "BEGIN; LOCK TABLE numbers; SELECT pg_sleep(600)").ok());
    });
    while (Said(cluster->Sql(database,
                             "SELECT count(*) FROM pg_stat_activity "
                             "WHERE wait_event = 'PgSleep'")) != "1") {
    }
    std::thread waiter(
        [&] { EXPECT_FALSE(cluster->Sql(database, "INSERT INTO numbers VALUES (1000)").ok()); });
    const pid_t postmaster = cluster->postmaster();
    const absl::Status killed = cluster->Kill9();
    holder.join();
    waiter.join();
    ASSERT_TRUE(killed.ok()) << killed;
    EXPECT_FALSE(cluster->running());
    EXPECT_EQ(kill(postmaster, 0), -1);
    EXPECT_FALSE(cluster->Sql(database, "SELECT 1").ok());
    ASSERT_TRUE(cluster->Restart().ok()) << cluster->Log();
    EXPECT_EQ(cluster->port(), port);
    EXPECT_EQ(Said(cluster->Sql(database, "SELECT count(*), max(n) FROM numbers")),
              absl::StrCat(round, "|", round));
  }
  EXPECT_THAT(cluster->Log(), HasSubstr("automatic recovery in progress"));
}

TEST(PostgresCluster, KillsABackendThatDoesNotNotice) {
  const std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start());
  std::thread computing(
      [&] { EXPECT_FALSE(cluster->Sql("postgres", "DO $$ BEGIN LOOP END LOOP; END $$").ok()); });
  while (Said(cluster->Sql("postgres",
                           "SELECT count(*) FROM pg_stat_activity "
                           "WHERE state = 'active' AND query LIKE 'DO %'")) != "1") {
  }
  const absl::Status killed = cluster->Kill9();
  EXPECT_TRUE(killed.ok()) << killed;
  computing.join();
  EXPECT_TRUE(cluster->Restart().ok()) << cluster->Log();
}

TEST(PostgresCluster, StopsAndStartsWithoutRecovery) {
  const std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start());
  const std::string connection = cluster->ConnectionString("postgres");
  EXPECT_FALSE(cluster->Restart().ok());
  EXPECT_TRUE(cluster->Stop().ok());
  EXPECT_TRUE(cluster->Stop().ok());
  ASSERT_TRUE(cluster->Restart().ok()) << cluster->Log();
  EXPECT_EQ(cluster->ConnectionString("postgres"), connection);
  EXPECT_THAT(cluster->Log(), Not(HasSubstr("automatic recovery in progress")));
  EXPECT_EQ(Said(cluster->Sql("postgres", "SELECT 1")), "1");
}

TEST(PostgresCluster, NobodyElseGetsThePortWhileItIsDown) {
  const std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start());
  ASSERT_TRUE(cluster->Kill9().ok());
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(cluster->port()));
  EXPECT_NE(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(other);
}

TEST(PostgresCluster, SaysWhyItDidNotStart) {
  const auto cluster = PostgresCluster::Start({.settings = {"no_such_setting=1"}});
  ASSERT_FALSE(cluster.ok());
  EXPECT_THAT(cluster.status().message(),
              HasSubstr("unrecognized configuration parameter \"no_such_setting\""));
}

TEST(PostgresCluster, SaysWhichPackageIsMissing) {
  ASSERT_EQ(setenv("EPSLEDGER_POSTGRES_BIN", "/nonexistent", 1), 0);
  const auto cluster = PostgresCluster::Start();
  unsetenv("EPSLEDGER_POSTGRES_BIN");
  EXPECT_EQ(cluster.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(cluster.status().message(), HasSubstr("install the package postgresql-15"));
}

TEST(PostgresCluster, IsGoneWithItsObject) {
  std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start());
  const pid_t postmaster = cluster->postmaster();
  const std::string folder = cluster->data_folder();
  EXPECT_TRUE(std::filesystem::exists(folder));
  cluster.reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(kill(postmaster, 0), -1);
}

TEST(PostgresCluster, OutlivesTheThreadThatStartedIt) {
  std::unique_ptr<PostgresCluster> cluster;
  std::thread([&] { cluster = Valid(PostgresCluster::Start()); }).join();
  EXPECT_EQ(Said(cluster->Sql("postgres", "SELECT 1")), "1");
  EXPECT_THAT(cluster->Log(), Not(HasSubstr("shutdown request")));
}

// A pipe whose other end only the processes of the server have, once the test is killed, tells when
// the last of them is gone.
TEST(PostgresCluster, DoesNotOutliveAKilledTest) {
  int alive[2];
  ASSERT_EQ(pipe(alive), 0);  // inherited by all
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t test = fork();
  if (test == 0) {
    close(alive[0]);
    close(ready[0]);
    const std::unique_ptr<PostgresCluster> cluster = Valid(PostgresCluster::Start());
    const std::string facts = cluster->data_folder() + "\n";
    if (write(ready[1], facts.data(), facts.size()) < 0) _exit(1);
    while (true) pause();
  }
  close(alive[1]);
  close(ready[1]);
  char facts[4096];
  const ssize_t size = read(ready[0], facts, sizeof facts);
  ASSERT_GT(size, 1);
  const std::filesystem::path data(std::string(facts, static_cast<size_t>(size) - 1));
  ASSERT_TRUE(std::filesystem::exists(data / "postmaster.pid"));
  kill(test, SIGKILL);
  waitpid(test, nullptr, 0);
  char byte;
  EXPECT_EQ(read(alive[0], &byte, 1), 0);  // waits until nobody has the other end
  // It had the time to clean up behind itself.
  EXPECT_FALSE(std::filesystem::exists(data / "postmaster.pid"));
  close(alive[0]);
  close(ready[0]);
  std::filesystem::remove_all(data.parent_path());
}

TEST(PostgresStandby, OfASynchronousPrimaryIsNeverBehind) {
  const std::unique_ptr<PostgresCluster> primary = Valid(PostgresCluster::Start());
  const std::string database = Valid(primary->CreateDatabase());
  const std::unique_ptr<PostgresCluster> standby =
      Valid(primary->StartStandby({.application_name = "second"}));
  const std::string replicas =
      "SELECT application_name, state, sync_state FROM pg_stat_replication";
  EXPECT_EQ(Said(primary->Sql("postgres", replicas)), "second|streaming|async");
  ASSERT_TRUE(primary
                  ->Configure({"synchronous_standby_names=FIRST 1 (second)",
                               "synchronous_commit=remote_apply"})
                  .ok());
  // The process that sends to it hears of the new settings when it next wakes up; commits wait for
  // it from now on.
  while (Said(primary->Sql("postgres", replicas)) != "second|streaming|sync") {
  }
  ASSERT_EQ(Said(primary->Sql(database, "CREATE TABLE numbers (n int)")), "");
  for (int n = 0; n < 10; ++n) {
    ASSERT_EQ(Said(primary->Sql(database, absl::StrCat("INSERT INTO numbers VALUES (", n, ")"))),
              "");
    EXPECT_EQ(Said(standby->Sql(database, "SELECT max(n) FROM numbers")), absl::StrCat(n));
  }

  // Without it a commit waits, and is not acknowledged before it is back.
  ASSERT_TRUE(standby->Stop().ok());
  std::thread waiting(
      [&] { EXPECT_EQ(Said(primary->Sql(database, "INSERT INTO numbers VALUES (10)")), ""); });
  while (Said(primary->Sql(database,
                           "SELECT count(*) FROM pg_stat_activity "
                           "WHERE wait_event = 'SyncRep'")) != "1") {
  }
  EXPECT_EQ(Said(primary->Sql(database, "SELECT max(n) FROM numbers")), "9");
  ASSERT_TRUE(standby->Restart().ok()) << standby->Log();
  waiting.join();
  EXPECT_EQ(Said(standby->Sql(database, "SELECT max(n) FROM numbers")), "10");

  ASSERT_TRUE(primary->Kill9().ok());
  ASSERT_TRUE(standby->Promote().ok());
  EXPECT_EQ(Said(standby->Sql(database, "INSERT INTO numbers VALUES (11) RETURNING n")), "11");
}

TEST(PostgresStandby, ThatLagsMissesTheNewestWhenItIsPromoted) {
  const std::unique_ptr<PostgresCluster> primary = Valid(PostgresCluster::Start());
  const std::string database = Valid(primary->CreateDatabase());
  const std::unique_ptr<PostgresCluster> standby = Valid(primary->StartStandby());
  ASSERT_EQ(Said(primary->Sql(database,
                              "CREATE TABLE numbers (n int); "
                              "INSERT INTO numbers VALUES (1)")),
            "");
  const absl::Status replayed = standby->WaitForReplayOf(*primary);
  ASSERT_TRUE(replayed.ok()) << replayed;
  EXPECT_EQ(Said(standby->Sql(database, "SELECT max(n) FROM numbers")), "1");
  EXPECT_THAT(Said(standby->Sql(database, "INSERT INTO numbers VALUES (7)")),
              HasSubstr("read-only transaction"));
  ASSERT_TRUE(standby->Stop().ok());
  ASSERT_EQ(Said(primary->Sql(database, "INSERT INTO numbers VALUES (2)")), "");
  ASSERT_TRUE(primary->Kill9().ok());
  ASSERT_TRUE(standby->Restart().ok()) << standby->Log();
  const absl::Status promoted = standby->Promote();
  ASSERT_TRUE(promoted.ok()) << promoted;
  EXPECT_EQ(Said(standby->Sql(database, "SELECT max(n) FROM numbers")), "1");
  EXPECT_EQ(Said(standby->Sql(database, "INSERT INTO numbers VALUES (3) RETURNING n")), "3");
  // The one that was killed has what the promoted one lost.
  ASSERT_TRUE(primary->Restart().ok()) << primary->Log();
  EXPECT_EQ(Said(primary->Sql(database, "SELECT max(n) FROM numbers")), "2");
}

}  // namespace
}  // namespace epsledger
