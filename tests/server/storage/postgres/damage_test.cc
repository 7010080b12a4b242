// Rows that somebody changed behind the servers: such a ledger is refused at the start, or put in
// quarantine, and the others go on.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

#include "tests/server/storage/postgres/postgres_database.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;

// The ledgers "b" and "healthy", each with a session of the same name; of five entries.
std::vector<core::SessionName> Fill(WaitingClient& client) {
  std::vector<core::SessionName> sessions;
  for (const char* budget : {"b", "healthy"}) {
    EXPECT_TRUE(client.CreateBudget(budget, 1).ok());
    sessions.push_back(client.CreateSession(budget, "run"));
    EXPECT_EQ(client.OpenAttempt(sessions.back()), 1);
    EXPECT_TRUE(Accepted(client.Charge(sessions.back(), 1, "1", PureDp{kStep})));
  }
  return sessions;
}

// Damage to what the servers have read.
const struct Damage {
  const char* sql;
  bool found_at_start;  // by replaying; otherwise as a quarantined ledger
} kBehind[] = {
    {"UPDATE entries SET content = set_byte(content, length(content) / 2, 1 +"
     " get_byte(content, length(content) / 2) % 255) WHERE ledger_id = 1 AND sequence = 3",
     true},
    {"UPDATE entries SET content = '\\x00' WHERE ledger_id = 1 AND sequence = 4", true},
    {"UPDATE entries SET hash = set_byte(hash, 0, 1 + get_byte(hash, 0) % 255)"
     " WHERE ledger_id = 1 AND sequence = 5",
     true},
    {"UPDATE entries SET sequence = 9 WHERE ledger_id = 1 AND sequence = 5", true},
    {"DELETE FROM entries WHERE ledger_id = 1 AND sequence = 1", true},
    {"DELETE FROM entries WHERE ledger_id = 1 AND sequence = 3", true},
    {"DELETE FROM entries WHERE ledger_id = 1 AND sequence = 5", false},
    {"DELETE FROM entries WHERE ledger_id = 1", false},
    {"UPDATE ledgers SET hash = sha256('') WHERE ledger_id = 1", false},
    {"UPDATE ledgers SET sequence = 4 WHERE ledger_id = 1", false},
    {"UPDATE ledgers SET sequence = 6 WHERE ledger_id = 1", false},
    {"DELETE FROM ledgers WHERE ledger_id = 1", true},
};

TEST(PostgresDamage, IsFoundByAServerThatStarts) {
  for (const Damage& damage : kBehind) {
    SCOPED_TRACE(damage.sql);
    const PostgresDatabase database;
    std::vector<core::SessionName> sessions;
    {
      auto server = database.Server();
      WaitingClient client(*server);
      sessions = Fill(client);
    }
    ASSERT_EQ(database.Sql("SELECT sequence FROM ledgers WHERE ledger_id = 1"), "5");
    database.Sql(damage.sql);
    auto server = GroupCommitLedger::Open(database.Store(), {});
    if (damage.found_at_start) {
      EXPECT_EQ(server.status().code(), kDataLoss) << server.status();
      continue;
    }
    ASSERT_TRUE(server.ok()) << server.status();
    WaitingClient client(**server);
    const auto repeated = client.Charge(sessions[0], 1, "1", PureDp{kStep});
    EXPECT_FALSE(repeated.ok());
    const auto charged = client.Charge(sessions[0], 1, "2", PureDp{kStep});
    EXPECT_FALSE(charged.ok());
    EXPECT_NE(charged.status().code(), absl::StatusCode::kUnavailable) << charged.status();
    EXPECT_FALSE(client.CreateBudget("b", 1).ok());
    EXPECT_TRUE(Accepted(client.Charge(sessions[1], 1, "2", PureDp{kStep})));
    EXPECT_TRUE((*server)->Health().ok()) << (*server)->Health();
  }
}

TEST(PostgresDamage, OfAHeadIsFoundByAServerThatRuns) {
  for (const Damage& damage : kBehind) {
    const std::string sql = damage.sql;
    if (sql.find("ledgers") == sql.npos) continue;
    SCOPED_TRACE(sql);
    const PostgresDatabase database;
    auto server = database.Server();
    WaitingClient client(*server);
    const std::vector<core::SessionName> sessions = Fill(client);
    database.Sql(sql);
    const auto charged = client.Charge(sessions[0], 1, "2", PureDp{kStep});
    EXPECT_EQ(charged.status().code(), kDataLoss) << charged.status();
    EXPECT_TRUE(Accepted(client.Charge(sessions[1], 1, "2", PureDp{kStep})));
    EXPECT_TRUE(server->Health().ok()) << server->Health();
    // For ever: mended rows are believed after a start.
    const auto again = client.Charge(sessions[0], 1, "1", PureDp{kStep});
    EXPECT_EQ(again.status().code(), kDataLoss) << again.status();
  }
}

// Entries that another server appended and that were damaged before this one has seen them.
TEST(PostgresDamage, OfNewEntriesQuarantinesTheirLedgerOnly) {
  for (const char* damage : {
           "UPDATE entries SET content = set_byte(content, length(content) / 2, 1 +"
           " get_byte(content, length(content) / 2) % 255) WHERE ledger_id = 1 AND sequence = 7",
           "UPDATE entries SET content = '\\x00' WHERE ledger_id = 1 AND sequence = 7",
           "UPDATE entries SET hash = sha256('') WHERE ledger_id = 1 AND sequence = 8",
           "DELETE FROM entries WHERE ledger_id = 1 AND sequence = 6",
           "DELETE FROM entries WHERE ledger_id = 1 AND sequence = 8",
       }) {
    for (const bool reads_first : {false, true}) {
      SCOPED_TRACE(damage);
      const PostgresDatabase database;
      // Damages inside the transaction that appends, so that nobody sees the rows as they were.
      auto server = database.Server();
      WaitingClient client(*server);
      const std::vector<core::SessionName> sessions = Fill(client);
      auto other = database.Server();
      WaitingClient elsewhere(*other);
      database.Sql(absl::StrCat(
          "CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ", damage,
          "; RETURN NULL; END $$; CREATE CONSTRAINT TRIGGER damage AFTER UPDATE ON ledgers"
          " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.sequence = 8 AND"
          " NEW.ledger_id = 1) EXECUTE FUNCTION damage()"));
      core::Charge charge{
          .session = sessions[0],
          .attempt = 1,
          .mode = core::BatchMode::kPerItem,
          .items = {{"a1", PureDp{kStep}, 1}, {"a2", PureDp{kStep}, 1}, {"a3", PureDp{kStep}, 1}}};
      ASSERT_TRUE(elsewhere.Run(charge).ok());
      ASSERT_TRUE(Accepted(elsewhere.Charge(sessions[1], 1, "2", PureDp{kStep})));
      if (reads_first) {
        EXPECT_TRUE(client.Read([](core::LedgerReader&) { return 0; }).ok());
      }
      const auto charged = client.Charge(sessions[0], 1, "a3", PureDp{kStep});
      EXPECT_EQ(charged.status().code(), kDataLoss) << charged.status();
      EXPECT_TRUE(Accepted(client.Charge(sessions[1], 1, "3", PureDp{kStep})));
      EXPECT_EQ(client.Head("healthy").sequence, 7);
      EXPECT_TRUE(server->Health().ok()) << server->Health();
    }
  }
}

// Entries that the server has replayed, and whose keys are asked for again.
TEST(PostgresDamage, OfAnOldEntryQuarantinesItsLedgerWhenItsKeyIsRepeated) {
  for (const char* damage : {
           "UPDATE entries SET content = '\\x00' WHERE ledger_id = 1 AND sequence = 5",
           "UPDATE entries SET hash = '\\x00' WHERE ledger_id = 1 AND sequence = 5",
           "DELETE FROM entries WHERE ledger_id = 1 AND sequence = 5",
       }) {
    SCOPED_TRACE(damage);
    const PostgresDatabase database;
    auto server = database.Server();
    WaitingClient client(*server);
    const std::vector<core::SessionName> sessions = Fill(client);
    for (const core::SessionName& session : sessions) {
      ASSERT_TRUE(Accepted(client.Charge(session, 1, "2", PureDp{kStep})));
    }
    database.Sql("ALTER TABLE entries DROP CONSTRAINT entries_hash_check");
    database.Sql(damage);
    // In one transaction with another charge, which is taken back.
    EXPECT_FALSE(client
                     .Run(core::Charge{.session = sessions[0],
                                       .attempt = 1,
                                       .mode = core::BatchMode::kPerItem,
                                       .items = {{"3", PureDp{kStep}, 1}, {"1", PureDp{kStep}, 1}}})
                     .ok());
    for (const char* id : {"1", "2", "3"}) {
      const auto charged = ChargeUntilKnown(client, sessions[0], 1, id, PureDp{kStep});
      EXPECT_EQ(charged.status().code(), kDataLoss) << id << ": " << charged.status();
      EXPECT_TRUE(Accepted(ChargeUntilKnown(client, sessions[1], 1, id, PureDp{kStep})));
    }
    EXPECT_EQ(client.Spent("healthy"), core::Cost::RoundUp(3 * kStep));
    EXPECT_TRUE(server->Health().ok()) << server->Health();
    // Nobody who reads is told of less than was acknowledged.
    EXPECT_TRUE(client.Spent("b") >= core::Cost::RoundUp(2 * kStep));
  }
}

}  // namespace
}  // namespace epsledger::storage
