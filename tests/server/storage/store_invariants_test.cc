// The invariants of the design that belong to what keeps the ledgers, each by its number, over
// random histories of every kind of command.

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/postgres/postgres_store.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/core/random_history.h"
#include "tests/server/storage/memory_store.h"
#include "tests/server/storage/postgres/engine_database.h"
#include "tests/server/storage/postgres/fresh_database.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using core::Entry;
using Reply = absl::StatusOr<core::Outcome>;

constexpr int kSteps = 80;

core::RandomHistory Lived(uint64_t seed) {
  core::RandomHistory history(seed, seed % 2 == 0 ? accounting::NeighboringRelation::kAddOrRemoveOne
                                                  : accounting::NeighboringRelation::kReplaceOne);
  for (int i = 0; i < kSteps; ++i) history.Take();
  return history;
}

// Queues the commands of a history; the answers come when they are asked for.
std::vector<std::future<Reply>> Submit(core::DurableLedger& ledger,
                                       const core::RandomHistory& history,
                                       const core::Tenant& tenant = {}) {
  std::vector<std::future<Reply>> replies;
  for (const core::RandomHistory::Step& step : history.steps()) {
    auto promise = std::make_shared<std::promise<Reply>>();
    replies.push_back(promise->get_future());
    ledger.Submit(tenant, step.command,
                  [promise](Reply reply) { promise->set_value(std::move(reply)); });
  }
  return replies;
}

// Every entry of the tenant's ledgers.
std::vector<Entry> EntriesOf(core::DurableLedger& ledger, const core::Tenant& tenant = {}) {
  return *WaitingClient(ledger, 0, tenant).Read([](core::LedgerReader& reader) {
    std::vector<Entry> entries;
    const core::Ledger* root = reader.LedgerOf("b0");
    if (root != nullptr) entries = *reader.ListEntries(*root, 0, root->head().sequence);
    return entries;
  });
}

bool SameEntries(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Entry& x, const Entry& y) {
    return x.sequence == y.sequence && x.content == y.content && x.hash == y.hash;
  });
}

// A medium, and a store on it that dies at one of its commits: before anything of the transaction
// is durable, or after all of it is.
class Medium {
 public:
  std::vector<Entry> durable;
  int commits_left = 0;
  bool last_commit_arrives = false;
};

class MortalStore : public MemoryStore {
 public:
  explicit MortalStore(std::shared_ptr<Medium> medium) : medium_(std::move(medium)) {
    Begin().IgnoreError();
    for (const Entry& entry : medium_->durable) MemoryStore::Append("b0", entry).IgnoreError();
    MemoryStore::Commit().IgnoreError();
  }
  absl::Status Append(const std::string& root_id, const Entry& entry) override {
    written_.push_back(entry);
    return MemoryStore::Append(root_id, entry);
  }
  absl::Status Commit() override {
    const bool dies = --medium_->commits_left < 0;
    if (!dies || medium_->last_commit_arrives) {
      medium_->durable.insert(medium_->durable.end(), written_.begin(), written_.end());
    }
    written_.clear();
    return dies ? absl::UnavailableError("the medium is gone") : MemoryStore::Commit();
  }

 private:
  const std::shared_ptr<Medium> medium_;
  std::vector<Entry> written_;
};

RC_GTEST_PROP(Invariants, I7AcknowledgedMeansDurable, (uint64_t seed)) {
  const core::RandomHistory history = Lived(seed);
  const auto medium = std::make_shared<Medium>();
  std::map<core::Hash, int64_t> acknowledged;  // to its sequence number
  int too_early = 0;
  for (int life = 0; life < 4; ++life) {
    medium->commits_left = *rc::gen::inRange(0, 12);
    medium->last_commit_arrives = *rc::gen::arbitrary<bool>();
    auto ledger = GroupCommitLedger::Open(std::make_unique<MortalStore>(medium),
                                          {.max_batch = *rc::gen::inRange<size_t>(1, 9)});
    RC_ASSERT(ledger.ok());
    for (const core::RandomHistory::Step& step : history.steps()) {
      // Called between commits: what the medium has then is durable.
      (*ledger)->Submit({}, step.command, [&](const Reply& reply) {
        if (!reply.ok() || !std::holds_alternative<core::ChargeOutcome>(*reply)) return;
        for (const core::ChargeRecord& record : std::get<core::ChargeOutcome>(*reply).records) {
          acknowledged[record.hash] = record.sequence;
          too_early += record.sequence > static_cast<int64_t>(medium->durable.size()) ||
                       medium->durable[record.sequence - 1].hash != record.hash;
        }
      });
    }
    *ledger = nullptr;  // finishes what is queued
    RC_ASSERT(too_early == 0);
  }
  // All that any life acknowledged is in the chain of the last: nothing was forgotten or replaced.
  for (const auto& [hash, sequence] : acknowledged) {
    RC_ASSERT(medium->durable.at(sequence - 1).hash == hash);
  }
}

RC_GTEST_PROP(Invariants, I13TenantsSeeNothingOfEachOther, (uint64_t seed)) {
  // What a tenant is answered and what is stored for it are the same, hash for hash, whether
  // another one, whose budgets have the same names, is there or not; on PostgreSQL also where the
  // other is a client of another server.
  const core::RandomHistory mine = Lived(seed);
  const core::RandomHistory theirs = Lived(seed + 1);
  auto alone = *GroupCommitLedger::Open(std::make_unique<MemoryStore>(), {});
  std::unique_ptr<GroupCommitLedger> shared;
  std::unique_ptr<GroupCommitLedger> other;
  if (seed % 4 == 0) {  // a database costs more time than all the rest
    const PostgresStore::Options database = FreshDatabase();
    shared = *GroupCommitLedger::Open(*PostgresStore::Open(database), {});
    other = *GroupCommitLedger::Open(*PostgresStore::Open(database), {});
  } else {
    shared = *GroupCommitLedger::Open(std::make_unique<MemoryStore>(), {});
  }
  std::vector<std::future<Reply>> foreign =
      Submit(other == nullptr ? *shared : *other, theirs, {"theirs"});
  std::vector<std::future<Reply>> a = Submit(*alone, mine, {"mine"});
  std::vector<std::future<Reply>> b = Submit(*shared, mine, {"mine"});
  for (size_t i = 0; i < a.size(); ++i) RC_ASSERT(a[i].get().status() == b[i].get().status());
  for (std::future<Reply>& reply : foreign) reply.wait();
  RC_ASSERT(SameEntries(EntriesOf(*alone, {"mine"}), EntriesOf(*shared, {"mine"})));
  RC_ASSERT(SameEntries(theirs.entries(), EntriesOf(*shared, {"theirs"})));
  const auto budgets = [](core::DurableLedger& ledger, const core::Tenant& tenant) {
    return *WaitingClient(ledger, 0, tenant).Read([](core::LedgerReader& reader) {
      return reader.BudgetIds("", 1000);
    });
  };
  RC_ASSERT(budgets(*alone, {"mine"}) == budgets(*shared, {"mine"}));
  RC_ASSERT(budgets(*shared, {"nobody"}).empty());
  RC_ASSERT(budgets(*shared, {}).empty());
}

RC_GTEST_PROP(Invariants, I17AllStoresGiveTheSameLedger, (uint64_t seed)) {
  // The reference is the ledger without any store.
  const core::RandomHistory history = Lived(seed);
  const ScratchFolder folder;
  const std::string path = folder.path() + "/ledger.sqlite";
  const auto held_to_reference = [&](std::unique_ptr<LedgerStore> store) {
    auto ledger = *GroupCommitLedger::Open(std::move(store), {});
    std::vector<std::future<Reply>> replies = Submit(*ledger, history);
    for (size_t i = 0; i < replies.size(); ++i) {
      RC_ASSERT(replies[i].get().status().code() == history.steps()[i].outcome.status().code());
    }
    RC_ASSERT(SameEntries(EntriesOf(*ledger), history.entries()));
  };
  held_to_reference(std::make_unique<MemoryStore>());
  held_to_reference(*SqliteStore::Open(path));
  // And as another process reads it.
  RC_ASSERT(SameEntries(EntriesOf(*GroupCommitLedger::Open(*SqliteStore::Open(path), {}).value()),
                        history.entries()));
  // A database costs more time than all the rest.
  if (seed % 16 == 1) held_to_reference(EngineDatabase(EngineDialect::kCockroachdb).Store());
  if (seed % 16 == 2) held_to_reference(EngineDatabase(EngineDialect::kYugabytedb).Store());
  if (seed % 4 != 0) return;
  const PostgresStore::Options database = FreshDatabase();
  held_to_reference(*PostgresStore::Open(database));
  RC_ASSERT(
      SameEntries(EntriesOf(*GroupCommitLedger::Open(*PostgresStore::Open(database), {}).value()),
                  history.entries()));
}

}  // namespace
}  // namespace epsledger::storage
