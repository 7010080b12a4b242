#include "server/storage/postgres/writer_rights.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>

#include "tests/server/storage/postgres/postgres_database.h"

namespace epsledger::storage {
namespace {

using ::testing::HasSubstr;

PostgresStore::Options As(const PostgresDatabase& database, const std::string& role) {
  PostgresStore::Options options = database.options();
  options.conninfo += " user=" + role;
  return options;
}

// On PostgreSQL too, where the owner could grant itself the right to change what is written.
TEST(WriterRights, AServerThatDoesNotOwnTheTablesAppendsAndNoMore) {
  const PostgresDatabase database;
  const std::string writer = database.name() + "-writer";
  database.Sql("CREATE ROLE \"" + writer + "\" LOGIN");
  EXPECT_EQ(PostgresStore::Open(As(database, writer)).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "nobody has made the tables";
  for (int time = 0; time < 2; ++time) {
    const absl::Status prepared = PreparePostgres(database.options(), writer);
    ASSERT_TRUE(prepared.ok()) << prepared;
  }
  auto store = PostgresStore::Open(As(database, writer));
  ASSERT_TRUE(store.ok()) << store.status();
  const auto server = GroupCommitLedger::Open(*std::move(store), {});
  ASSERT_TRUE(server.ok()) << server.status();
  WaitingClient client(**server);
  ASSERT_TRUE(client.CreateBudget("b", 1).ok());
  const core::SessionName run = client.CreateSession("b", "run");
  ASSERT_EQ(client.OpenAttempt(run), 1);
  EXPECT_TRUE(Accepted(client.Charge(run, 1, "x", accounting::PureDp{kStep})));

  const auto session = PostgresStore::ConnectToRead(As(database, writer));
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(CheckWriterRights(**session).ok()) << CheckWriterRights(**session);
  for (const char* statement :
       {"UPDATE entries SET content = 'x'", "DELETE FROM entries", "TRUNCATE charges",
        "DELETE FROM ledgers", "UPDATE incarnations SET reason = 'x'", "DELETE FROM epsledger",
        "DROP TABLE budgets", "ALTER TABLE entries DISABLE TRIGGER ALL"}) {
    const absl::Status status = (*session)->Execute(statement);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << statement << status;
  }
  // Without the right to grant, it is a warning and no error.
  EXPECT_FALSE((*session)->Execute("GRANT UPDATE ON entries TO CURRENT_USER").ok() &&
               (*session)->Execute("UPDATE entries SET content = 'x'").ok());
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "1");
}

TEST(WriterRights, TheOwnerIsNotTheWriter) {
  const PostgresDatabase database;
  const absl::Status same = PreparePostgres(database.options(), "postgres");
  EXPECT_EQ(same.code(), absl::StatusCode::kFailedPrecondition) << same;
  EXPECT_THAT(std::string(same.message()), HasSubstr("want another one"));
  ASSERT_TRUE(PostgresStore::Open(database.options()).ok());
  const auto session = PostgresStore::ConnectToRead(database.options());
  EXPECT_FALSE(CheckWriterRights(**session).ok()) << "a superuser is bound by nothing";
  EXPECT_FALSE(PreparePostgres(database.options(), "nobody-of-this-name").ok());
}

}  // namespace
}  // namespace epsledger::storage
