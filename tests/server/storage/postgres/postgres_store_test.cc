// A database that fails, hangs up, warns, or was damaged: what is acknowledged is stored, what is
// unknown can be asked for again, and what is in memory is what is stored.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <future>
#include <map>
#include <string>
#include <vector>

#include "tests/server/storage/postgres/postgres_database.h"
#include "tests/server/storage/sample_entries.h"

namespace epsledger::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using accounting::PureDp;
using core::Entry;

absl::Status Store(PostgresStore& store, const std::string& root,
                   const std::vector<Entry>& entries) {
  absl::Status status = store.Begin();
  for (const Entry& entry : entries) {
    if (status.ok()) status = store.Append(root, entry);
  }
  return status.ok() ? store.Commit() : status;
}

// Collects what a store hands out, by ledger.
class Seen {
 public:
  absl::Status operator()(const std::string& root, Entry entry) {
    entries_[root].push_back(std::move(entry));
    return absl::OkStatus();
  }
  bool Is(const std::string& root, const std::vector<Entry>& want) const {
    const auto it = entries_.find(root);
    const std::vector<Entry> none;
    const std::vector<Entry>& got = it == entries_.end() ? none : it->second;
    return std::equal(got.begin(), got.end(), want.begin(), want.end(),
                      [](const Entry& a, const Entry& b) {
                        return a.sequence == b.sequence && a.hash == b.hash;
                      });
  }
  bool empty() const { return entries_.empty(); }
  std::vector<std::string> roots() const {
    std::vector<std::string> roots;
    for (const auto& [root, entries] : entries_) roots.push_back(root);
    return roots;
  }

 private:
  std::map<std::string, std::vector<Entry>> entries_;
};

// A server with a budget and a session, over a database of its own.
struct Served {
  explicit Served(const PostgresDatabase& database) : server(database.Server()) {
    EXPECT_TRUE(client.CreateBudget("b", 1000 * kStep).ok());
    session = client.CreateSession("b", "run");
    EXPECT_EQ(client.OpenAttempt(session), 1);
  }
  absl::StatusOr<core::ChargeRecord> Charge(const std::string& id) {
    return client.Charge(session, 1, id, PureDp{kStep});
  }
  std::unique_ptr<GroupCommitLedger> server;
  WaitingClient client{*server};
  core::SessionName session;
};

int64_t SpentSteps(WaitingClient& client) {
  for (int64_t steps = 0; steps < 100; ++steps) {
    if (client.Spent("b") == core::Cost::RoundUp(kStep).Times(steps)) return steps;
  }
  return -1;
}

TEST(PostgresStore, RepeatsWhatTheDatabaseWantsToBeRepeated) {
  for (const char* code : {"40001", "40P01"}) {
    for (const bool at_commit : {false, true}) {
      SCOPED_TRACE(absl::StrCat(code, at_commit ? " at the commit" : " at the insert"));
      const PostgresDatabase database;
      Served served(database);
      const std::string raise =
          absl::StrCat("RAISE EXCEPTION 'again' USING ERRCODE = '", code, "'");
      database.ForTheFirstInserts(4, raise, at_commit);
      EXPECT_TRUE(Accepted(served.Charge("a")));
      // Four that failed, and the two entries of the fifth.
      EXPECT_EQ(database.Sql("SELECT last_value FROM trouble"), "6");
      EXPECT_TRUE(served.server->Health().ok());
      ExpectMemoryIsWhatIsStored(*served.server, "b");
      EXPECT_EQ(SpentSteps(served.client), 1);
      // A new root budget, of which nothing is there when it is repeated.
      database.ForTheFirstInserts(2, raise, at_commit);
      EXPECT_TRUE(served.client.CreateBudget("fresh", 1).ok());
      ExpectMemoryIsWhatIsStored(*served.server, "fresh");
      // Too often: the call ends, and a repetition finds that it was not charged.
      database.ForTheFirstInserts(7, raise, at_commit);
      EXPECT_EQ(served.Charge("b").status().code(), absl::StatusCode::kUnavailable);
      EXPECT_TRUE(Accepted(ChargeUntilKnown(served.client, served.session, 1, "b", PureDp{kStep})));
      EXPECT_EQ(SpentSteps(served.client), 2);
      ExpectMemoryIsWhatIsStored(*served.server, "b");
      ExpectMemoryIsWhatIsStored(*database.Server(), "b");
      EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "2");
    }
  }
}

// The look-up of a key sends first what is pending, and may fail with it.
TEST(PostgresStore, RepeatsWhatFailsBeforeALookUp) {
  const PostgresDatabase database;
  Served served(database);
  ASSERT_TRUE(Accepted(served.Charge("z")));
  database.ForTheFirstInserts(2, "RAISE EXCEPTION 'again' USING ERRCODE = '40001'", false);
  // All in one transaction: the ledger is held until they are queued.
  auto holder = database.Store();
  ASSERT_TRUE(holder->Begin().ok());
  ASSERT_TRUE(
      holder->Hold({"b"}, [](const std::string&, const Entry&) { return absl::OkStatus(); }).ok());
  auto first =
      served.client.Submit(WaitingClient::MakeCharge(served.session, 1, "z", PureDp{kStep}));
  ASSERT_TRUE(database.WaitForLockWaiters(1));
  std::vector<std::future<absl::StatusOr<core::Outcome>>> replies;
  for (const char* id : {"c", "a", "z", "b", "c"}) {
    replies.push_back(
        served.client.Submit(WaitingClient::MakeCharge(served.session, 1, id, PureDp{kStep})));
  }
  EXPECT_TRUE(holder->Rollback().ok());
  EXPECT_TRUE(first.get().ok());
  for (auto& reply : replies) {
    const auto outcome = reply.get();
    EXPECT_TRUE(outcome.ok()) << outcome.status();
  }
  EXPECT_EQ(SpentSteps(served.client), 4);
  ExpectMemoryIsWhatIsStored(*served.server, "b");
}

// Who is cancelled while it waits for a ledger goes on with the same session.
TEST(PostgresStore, GoesOnAfterAHoldThatFailed) {
  const PostgresDatabase database;
  Served served(database);
  auto holder = database.Store();
  ASSERT_TRUE(holder->Begin().ok());
  ASSERT_TRUE(
      holder->Hold({"b"}, [](const std::string&, const Entry&) { return absl::OkStatus(); }).ok());
  auto reply =
      served.client.Submit(WaitingClient::MakeCharge(served.session, 1, "a", PureDp{kStep}));
  ASSERT_TRUE(database.WaitForLockWaiters(1));
  database.Sql(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
  EXPECT_EQ(reply.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(holder->Rollback().ok());
  EXPECT_TRUE(Until([&] { return served.server->Health().ok(); }));
  EXPECT_TRUE(Accepted(ChargeUntilKnown(served.client, served.session, 1, "a", PureDp{kStep})));
  EXPECT_EQ(SpentSteps(served.client), 1);
}

// As when somebody cancels the wait for the standby: the commit has happened, perhaps only here.
TEST(PostgresStore, ACommitWithAWarningIsAnUnknownOutcome) {
  const PostgresDatabase database;
  Served served(database);
  database.ForTheFirstInserts(1, "RAISE WARNING 'the standby has not answered'", true);
  const auto unknown = served.Charge("a");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kUnavailable) << unknown.status();
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("the standby has not answered"));
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "1");
  const auto again = ChargeUntilKnown(served.client, served.session, 1, "a", PureDp{kStep});
  EXPECT_TRUE(Accepted(again));
  EXPECT_EQ(again->sequence, 5);
  EXPECT_EQ(SpentSteps(served.client), 1);
  ExpectMemoryIsWhatIsStored(*served.server, "b");
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "1");
}

TEST(PostgresStore, ASessionThatIsEndedCostsNothingAndIsReplaced) {
  const PostgresDatabase database;
  Served served(database);
  const std::string end_all =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE application_name = 'epsledgerd' AND datname = current_database()";
  // Between transactions; inside one, before and at the commit.
  for (int round = 0; round < 3; ++round) {
    const std::string id = absl::StrCat("step-", round);
    if (round == 0) database.Sql(end_all);
    if (round > 0) {
      database.ForTheFirstInserts(1, "PERFORM pg_terminate_backend(pg_backend_pid())", round == 2);
      EXPECT_EQ(served.Charge(id).status().code(), absl::StatusCode::kUnavailable);
    }
    EXPECT_TRUE(Accepted(ChargeUntilKnown(served.client, served.session, 1, id, PureDp{kStep})));
    EXPECT_EQ(SpentSteps(served.client), round + 1);
    ExpectMemoryIsWhatIsStored(*served.server, "b");
  }
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "3");

  // While it hands out what others appended.
  auto store = database.Store();
  ASSERT_TRUE(store->Begin().ok());
  int handed_out = 0;
  const auto held = store->Hold({"b"}, [&](const std::string&, const Entry&) {
    if (++handed_out == 1) database.Sql(end_all);
    return absl::OkStatus();
  });
  EXPECT_EQ(handed_out, 7);
  EXPECT_TRUE(held.ok()) << held.status();
  EXPECT_FALSE(store->Commit().ok());
  EXPECT_THAT(*store->Rollback(), IsEmpty());
  const auto lost = store->CatchUp(
      [](const std::string&, const Entry&) { return absl::InternalError("handed out twice"); });
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_THAT(*lost, IsEmpty());
  // A visitor's error leaves that entry, and those after it, to be handed out.
  auto late = database.Store();
  int before = 0;
  EXPECT_FALSE(late->CatchUp([&](const std::string&, const Entry&) {
                     return ++before < 3 ? absl::OkStatus() : absl::InternalError("stop");
                   })
                   .ok());
  int64_t next = 3;
  EXPECT_TRUE(late->CatchUp([&](const std::string&, const Entry& entry) {
                    EXPECT_EQ(entry.sequence, next++);
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(next, 8);
}

// The budget id is taken by another server that appends to another ledger.
TEST(PostgresStore, AUniqueViolationAtTheCommitLeavesNothing) {
  const PostgresDatabase database;
  auto first = database.Store();
  auto second = database.Store();
  ASSERT_TRUE(Store(*second, "two", MakeEntries("two", 1)).ok());
  ASSERT_TRUE(Store(*first, "one", MakeEntries("one", 0, "child")).ok());
  const std::string before = database.Sql("SELECT * FROM entries ORDER BY 1, 2");
  // A ledger of its own, with the child in it.
  EXPECT_EQ(Store(*second, "three", MakeEntries("three", 2, "child")).code(),
            absl::StatusCode::kAborted);
  EXPECT_THAT(*second->Rollback(), ElementsAre("three"));
  EXPECT_EQ(database.Sql("SELECT * FROM entries ORDER BY 1, 2"), before);
  Seen seen;
  const auto lost = second->CatchUp(std::ref(seen));
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_THAT(*lost, IsEmpty());
  EXPECT_THAT(seen.roots(), ElementsAre("one"));
  EXPECT_EQ((*second->FindLedgers({"child", "two", "three"})),
            (std::map<std::string, std::string>{{"child", "one"}, {"two", "two"}}));
  // What it had appended to is handed out again, from its beginning.
  std::vector<Entry> more = MakeEntries("two", 3);
  ASSERT_TRUE(second->Begin().ok());
  ASSERT_TRUE(second->Append("two", more[5]).ok());
  EXPECT_THAT(*second->Rollback(), ElementsAre("two"));
  Seen again;
  ASSERT_TRUE(second->CatchUp(std::ref(again)).ok());
  EXPECT_TRUE(again.Is("two", MakeEntries("two", 1)));
  EXPECT_TRUE(Store(*second, "two", {more.begin() + 5, more.end()}).ok());
}

// More entries than a transaction keeps back, and histories of more than one page: 10,000.
TEST(PostgresStore, TransactionsAndHistoriesMayBeLong) {
  const PostgresDatabase database;
  auto writer = database.Store();
  auto reader = database.Store();
  const std::vector<Entry> exact = MakeEntries("exact", 20'000 - 4);
  const std::vector<Entry> odd = MakeEntries("odd", 25'000);
  const std::vector<Entry> small = MakeEntries("small", 2);
  Seen nothing;
  ASSERT_TRUE(reader->CatchUp(std::ref(nothing)).ok());
  EXPECT_TRUE(nothing.empty());
  ASSERT_TRUE(writer->Begin().ok());
  for (const Entry& entry : exact) ASSERT_TRUE(writer->Append("exact", entry).ok());
  for (const Entry& entry : small) ASSERT_TRUE(writer->Append("small", entry).ok());
  for (const Entry& entry : odd) ASSERT_TRUE(writer->Append("odd", entry).ok());
  EXPECT_EQ(database.Sql("SELECT count(*) FROM entries"), "0");
  ASSERT_TRUE(writer->Commit().ok());
  const auto all = [&](const Seen& seen) {
    EXPECT_TRUE(seen.Is("exact", exact));
    EXPECT_TRUE(seen.Is("odd", odd));
    EXPECT_TRUE(seen.Is("small", small));
  };
  Seen caught_up;
  const auto lost = reader->CatchUp(std::ref(caught_up));
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_THAT(*lost, IsEmpty());
  all(caught_up);
  Seen once;
  ASSERT_TRUE(reader->CatchUp(std::ref(once)).ok());
  EXPECT_TRUE(once.empty());

  Seen read;
  ASSERT_TRUE(database.Store()->ReadAll(std::ref(read)).ok());
  all(read);
  auto holder = database.Store();
  Seen held;
  ASSERT_TRUE(holder->Begin().ok());
  const auto lost_of_held = holder->Hold({"exact", "odd", "small"}, std::ref(held));
  ASSERT_TRUE(lost_of_held.ok()) << lost_of_held.status();
  EXPECT_THAT(*lost_of_held, IsEmpty());
  all(held);
  // Together with a ledger that is made.
  EXPECT_TRUE(holder->Rollback().ok());
  auto maker = database.Store();
  Seen also_held;
  ASSERT_TRUE(maker->Begin().ok());
  ASSERT_TRUE(maker->Hold({"exact", "new", "odd", "small"}, std::ref(also_held)).ok());
  all(also_held);
  ASSERT_TRUE(maker->Append("new", MakeEntries("new", 0)[0]).ok());
  ASSERT_TRUE(maker->Commit().ok());
  EXPECT_EQ(maker->ListCharges("odd", 1, 3, 25'000, kAnyBytes)->size(), 25'000u);
  EXPECT_EQ(maker->ReadEntries("odd", 100, 25'000, kAnyBytes)->size(), 24'904u);
}

TEST(PostgresStore, KeepsWhateverBytesIdsHave) {
  const PostgresDatabase database;
  const std::vector<std::string> ids = {
      "it's", "\"quoted\"", "back\\slash", "{a,b}",       "NULL",
      "null", "%s $1 :x ?", "a;--",        "line\nbreak", "\xc3\xa9\xf0\x9f\x8c\x8d",
      " ",    "(1,2)"};
  auto writer = database.Store();
  auto reader = database.Store();
  std::vector<std::string> roots;
  for (const std::string& id : ids) {
    const std::string root = core::StoredId("te'n{a}nt", id);
    roots.push_back(root);
    ASSERT_TRUE(Store(*writer, root, MakeEntries(id, 1)).ok()) << id;
  }
  Seen seen;
  ASSERT_TRUE(reader->CatchUp(std::ref(seen)).ok());
  const auto found = reader->FindLedgers(roots);
  ASSERT_TRUE(found.ok()) << found.status();
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(seen.Is(roots[i], MakeEntries(ids[i], 1))) << ids[i];
    EXPECT_EQ(found->at(roots[i]), roots[i]);
  }
  EXPECT_EQ(found->size(), ids.size());

  Served served(database);
  for (const std::string& id : ids) EXPECT_TRUE(Accepted(served.Charge(id))) << id;
  auto other = database.Server();
  WaitingClient client(*other);
  for (const std::string& id : ids) {
    const auto again = client.Charge(served.session, 1, id, PureDp{kStep});
    const auto first = served.Charge(id);
    ASSERT_TRUE(again.ok() && first.ok()) << id;
    EXPECT_EQ(again->sequence, first->sequence);
  }
  EXPECT_EQ(SpentSteps(client), static_cast<int64_t>(ids.size()));
}

}  // namespace
}  // namespace epsledger::storage
