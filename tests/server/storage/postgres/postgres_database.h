#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_POSTGRES_DATABASE_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_POSTGRES_DATABASE_H_

#include "gtest/gtest.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/group_commit_ledger.h"
#include "server/storage/postgres/postgres_store.h"
#include "tests/postgres/postgres_cluster.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {

// Calls `done` until it returns true. Returns false after a minute.
template <class Function>
bool Until(Function done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// A database for servers, empty at first. Tests break it with SQL.
class PostgresDatabase {
 public:
  // Creates the database in the cluster of this process.
  PostgresDatabase() : PostgresDatabase(PostgresCluster::Shared().value()) {}
  explicit PostgresDatabase(PostgresCluster* cluster)
      : cluster_(cluster), name_(cluster->CreateDatabase().value()) {}

  const std::string& name() const { return name_; }
  PostgresCluster& cluster() const { return *cluster_; }
  PostgresStore::Options options() const {
    return {.conninfo = cluster_->ConnectionString(name_), .without_standby = true};
  }

  std::unique_ptr<PostgresStore> Store() const {
    auto store = PostgresStore::Open(options());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::unique_ptr<GroupCommitLedger> Server() const {
    auto server = GroupCommitLedger::Open(Store(), {});
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }

  // Returns what psql prints; an error fails the test.
  std::string Sql(const std::string& statements) const {
    const absl::StatusOr<std::string> said = cluster_->Sql(name_, statements);
    EXPECT_TRUE(said.ok()) << said.status();
    return said.ok() ? *said : "";
  }
  // Waits until the query returns `want`. Returns false after a minute.
  bool WaitFor(const std::string& query, const std::string& want) const {
    return Until([&] { return cluster_->Sql(name_, query).value_or("") == want; });
  }
  bool WaitForLockWaiters(int count) const {
    return WaitFor(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'epsledgerd' AND wait_event_type = 'Lock'",
        absl::StrCat(count));
  }

  // From now on the statement runs for the first `times` inserted entries, at the insert or at the
  // commit of the transaction. An entry counts even if its transaction is rolled back.
  void ForTheFirstInserts(int times, const std::string& statement, bool at_commit) const {
    Sql("DROP SEQUENCE IF EXISTS trouble; CREATE SEQUENCE trouble");
    Sql(
        absl::StrCat("CREATE OR REPLACE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS"
                     " $$ BEGIN IF nextval('trouble') <= ",
                     times, " THEN ", statement, "; END IF; RETURN NULL; END $$"));
    Sql("DROP TRIGGER IF EXISTS trouble ON entries");
    Sql(at_commit ? "CREATE CONSTRAINT TRIGGER trouble AFTER INSERT ON entries"
                    " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION trouble()"
                  : "CREATE TRIGGER trouble AFTER INSERT ON entries"
                    " FOR EACH ROW EXECUTE FUNCTION trouble()");
  }

 private:
  PostgresCluster* const cluster_;
  const std::string name_;
};

// Charges like a client that does not give up an outcome: it asks for an unknown outcome until it
// is known.
inline absl::StatusOr<core::ChargeRecord> ChargeUntilKnown(
    WaitingClient& client, const core::SessionName& session, int64_t attempt, const std::string& id,
    const accounting::MechanismEvent& event) {
  absl::StatusOr<core::ChargeRecord> record = absl::UnavailableError("not asked");
  Until([&] {
    record = client.Charge(session, attempt, id, event);
    return record.status().code() != absl::StatusCode::kUnavailable;
  });
  return record;
}

inline bool Accepted(const absl::StatusOr<core::ChargeRecord>& record) {
  return record.ok() && record->row.decision == core::ChargeDecision::kAccepted;
}

// Returns the entries of a budget's ledger as a server shows them.
inline std::vector<core::Entry> EntriesAt(core::DurableLedger& server, const std::string& budget) {
  auto entries = WaitingClient(server).Read([&](core::LedgerReader& reader) {
    const core::Ledger* ledger = reader.LedgerOf(budget);
    if (ledger == nullptr) return std::vector<core::Entry>();
    return reader.ListEntries(*ledger, 0, ledger->head().sequence).value();
  });
  EXPECT_TRUE(entries.ok()) << entries.status();
  return entries.ok() ? *std::move(entries) : std::vector<core::Entry>();
}

// Expects that the server's ledger in memory equals the stored one, hash for hash, and that the
// chain and the caps hold when the ledger is replayed from its first entry.
inline void ExpectMemoryIsWhatIsStored(core::DurableLedger& server, const std::string& budget) {
  const auto head = WaitingClient(server).Read([&](core::LedgerReader& reader) {
    const core::Ledger* ledger = reader.LedgerOf(budget);
    return ledger == nullptr ? core::LedgerHead() : ledger->head();
  });
  ASSERT_TRUE(head.ok()) << head.status();
  core::Ledger replayed;
  for (const core::Entry& entry : EntriesAt(server, budget)) {
    const absl::Status applied = replayed.Apply(entry);
    ASSERT_TRUE(applied.ok()) << applied;
  }
  EXPECT_GT(head->sequence, 0);
  EXPECT_EQ(replayed.head().sequence, head->sequence);
  EXPECT_EQ(replayed.head().hash, head->hash);
}

}  // namespace epsledger::storage

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_POSTGRES_DATABASE_H_
