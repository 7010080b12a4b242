#ifndef EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
#define EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/core/access_ledger.h"
#include "server/core/durable_ledger.h"
#include "server/core/ledger.h"
#include "server/core/tenant.h"
#include "server/storage/commit_listeners.h"
#include "server/storage/fair_queue.h"
#include "server/storage/ledger_store.h"
#include "server/storage/replica.h"
#include "server/storage/reply_thread.h"

namespace epsledger::storage {

// All ledgers of one process over one store. One thread decides. While its transaction is being
// committed, arriving commands queue up and go together into the next one (natural group commit),
// so one fsync serves all charges that arrived during the previous one. Another thread reports the
// outcomes, in the order of the decisions.
//
// Invariants: a reply with an outcome is called only after the commit that holds its entries (I7);
// reads run between commits and see durable state only.
//
// After a failure the ledgers in flight are discarded and read again, and the calls of the batch
// are answered UNAVAILABLE. A held store is then read only: commands are refused with
// core::ReadOnly, reads continue, and a trial every second detects when the store can be written
// again. After a failed sync, or if the store cannot be read, there are no more trials until the
// process is restarted.
//
// Over a shared store, each batch locks its ledgers, replays the entries that other servers
// appended to them, and then decides; reads first replay new entries. After a failure both continue
// as soon as the database answers.
class GroupCommitLedger : public core::DurableLedger {
 public:
  struct Options {
    // Commands in one transaction. Bounds how long a commit delays others.
    size_t max_batch = 1024;
    // Commands and reads of one tenant that may wait; of all tenants together twice as many.
    // Further ones get core::Overload, immediately and on the caller's thread. This is about a
    // second of work: a command is charged even if its client stopped waiting, so a long queue
    // would spend budgets on calls that nobody waits for. A request from within a reply is never
    // refused, because it reports a completed command.
    size_t max_queue = 16'384;
    // After this time the remaining reads of a batch wait until newly arrived commands are decided.
    absl::Duration max_reading = absl::Milliseconds(1);
    // Committed batches whose replies may wait. Beyond this bound decisions wait.
    size_t max_untold_batches = 16;
    // A held store that can only be read is tried again after this long.
    absl::Duration resume_interval = absl::Seconds(1);
    // For shared stores only, like the next four. An idle server looks for new entries of others at
    // this interval, and waits this long after a failure before it tries again.
    absl::Duration catch_up_interval = absl::Milliseconds(250);
    // The server stops serving from a database that does not answer for this long (for example
    // because it waits for a standby that is gone).
    absl::Duration patience = absl::Seconds(10);
    // After this long without an answer the server no longer knows which tokens were revoked.
    // Longer than max_deciding.
    absl::Duration token_patience = absl::Seconds(5);
    // Commands that are not decided within this time go into the next transaction. Other servers
    // wait for the ledgers of this one, and the database ends a session that holds them for too
    // long (kSessionSettings of the PostgreSQL store).
    absl::Duration max_deciding = absl::Seconds(3);
    // Commands wait this long for a ledger that another server holds.
    absl::Duration hold_patience = absl::Seconds(10);
    // Published entries that the store must hold (Replica::CheckPublished).
    std::vector<core::NamedEntry> published;
  };

  // Replays everything in `store` (checking the hash chain and every cap on the way) and starts.
  // DATA_LOSS if the stored ledger does not verify.
  static absl::StatusOr<std::unique_ptr<GroupCommitLedger>> Open(std::unique_ptr<LedgerStore> store,
                                                                 Options options);

  // Finishes everything that is queued, then stops.
  ~GroupCommitLedger() override;

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override;
  void Read(core::Tenant tenant, ReadFunction read) override;
  std::shared_ptr<const core::TokenTable> Tokens() const override;
  bool TokensAreCurrent() const override;
  absl::Status Health() const override;
  std::vector<core::Incarnation> Incarnations() const override { return incarnations_; }

  // Replayed by Open.
  int64_t recovered_entry_count() const { return recovered_entry_count_; }
  int64_t recovered_budget_count() const { return recovered_budget_count_; }

 private:
  class Reader;
  using Clock = std::chrono::steady_clock;
  struct Write {
    core::Tenant tenant;
    core::Command command;
    Reply reply;
    // Set while the command waits for a ledger that another server holds: the start of the wait.
    std::optional<Clock::time_point> set_aside = std::nullopt;
  };
  struct TenantRead {
    core::Tenant tenant;
    ReadFunction read;
  };
  using Item = std::variant<Write, TenantRead>;
  struct Batch {
    std::vector<Write> writes;
    std::vector<TenantRead> reads;
    size_t size() const { return writes.size() + reads.size(); }
    void Add(Item item);
  };

  GroupCommitLedger(std::unique_ptr<LedgerStore> store, Options options);
  absl::Status Recover();
  void Enqueue(Item item) ABSL_LOCKS_EXCLUDED(mutex_);
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  static const std::string& TenantOf(const Item& item) {
    return std::visit([](const auto& one) -> const std::string& { return one.tenant.name; }, item);
  }
  // Decides and commits the writes; then passes the replies on, and calls the listeners and the
  // reads.
  void RunBatch(Batch batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes one attempt at the writes of a batch, with an outcome for each. Over a shared store,
  // writes without enough time go back to the queue; DEADLINE_EXCEEDED if another server holds a
  // ledger.
  absl::Status Transact(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // Returns the stored hash of an entry; nothing if no such entry exists.
  absl::StatusOr<std::optional<core::Hash>> HashOf(const std::string& root_id, int64_t sequence);
  // DATA_LOSS if the entry that the store found for a key holds another key; the ledger is then in
  // quarantine.
  absl::Status CheckFound(const std::string& root_id, const core::ChargeKey& key,
                          const std::optional<core::Entry>& found);
  // Decides one command and appends its entries. Sets `*store_status` if the store failed.
  absl::StatusOr<core::Outcome> Decide(const Write& write, absl::Status* store_status);
  // Checks the head in a command (Replica::CheckSeen).
  absl::Status CheckSeen(const Write& write);
  // Queues the commands that record lost entries, if they can be written.
  void RecordLostEntries() ABSL_LOCKS_EXCLUDED(mutex_);
  // Publishes the tokens if they have changed. REQUIRES: they are durable.
  void PublishTokens() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Failure() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops serving.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Serves everything again.
  void Serve(const char* why) ABSL_LOCKS_EXCLUDED(mutex_);
  void LookAgainIn(absl::Duration interval);

  // Held stores only. Calls Transact, and returns to the durable state after an error.
  absl::Status TransactHeld(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // Ends the transaction, and replays from the store the ledgers to which it had appended.
  absl::Status ReadAgain();
  void BecomeReadOnly(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes commands again if the store can be written.
  void Resume() ABSL_LOCKS_EXCLUDED(mutex_);

  // Shared stores only. Begins a transaction that holds the ledgers of the writes in their present
  // state.
  absl::Status HoldLedgersOf(const std::vector<Write>& writes);
  // Looks up the keys of the writes in one request before they are decided.
  absl::Status PrefetchKeysOf(const std::vector<Write>& writes);
  // Calls Transact, and repeats it where that may help.
  absl::Status TransactShared(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // Handles writes of which some need a ledger that another server holds: decides the writes of
  // other ledgers, each ledger by itself, and sets the rest aside. Afterwards the batch and the
  // outcomes contain only the decided writes.
  absl::Status TransactApart(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // Sets aside the writes of the batch that need ledgers which are known to be held elsewhere.
  void SetAside(Batch* batch);
  // Tries the writes that were set aside again.
  void TryAgain() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::string> LedgersOf(const Write& write) const {
    return replica_.LedgersOf(write.tenant, write.command, {});
  }
  // Puts the writes or reads of a batch from `first` on back to the front of the queue.
  template <class WriteOrRead>
  void PutBack(size_t first, std::vector<WriteOrRead>* items) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    while (items->size() > first) {
      const std::string tenant = items->back().tenant.name;
      queue_.PushFront(tenant, std::move(items->back()));
      items->pop_back();
    }
  }
  // Adds items to the batch that arrived while it waited for its ledgers: the next items of the
  // queue, as long as they need only those ledgers.
  void TopUp(Batch* batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Replays the entries that others have appended, and updates Health.
  absl::Status CatchUp() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ApplyForeign(const std::string& root_id, const core::Entry& entry);

  const Options options_;
  int64_t recovered_entry_count_ = 0;
  int64_t recovered_budget_count_ = 0;
  std::vector<core::Incarnation> incarnations_;

  // Only the deciding thread uses these once it runs.
  std::unique_ptr<LedgerStore> store_;
  SharedLedgers* const shared_;  // of store_; nullptr for a held store
  Replica replica_;
  bool in_transaction_ = false;
  std::vector<std::string> appended_;  // ledgers of the open transaction's entries
  // The time to catch up with a shared store, or to retry one that can only be read.
  Clock::time_point next_look_ = Clock::time_point::max();
  core::LedgerHead published_access_;
  // Shared stores only: the ledgers of the open transaction, and the ledgers that may be incomplete
  // in memory.
  std::vector<std::string> held_;
  std::set<std::string> unsettled_;
  // Ledgers that another server holds, and the writes that wait for them, in order.
  std::set<std::string> held_elsewhere_;
  std::vector<Write> aside_;
  Clock::time_point next_try_ = Clock::time_point::max();
  CommitListeners listeners_;

  mutable absl::Mutex mutex_;
  FairQueue<Item> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);     // no commands
  absl::Status unreadable_ ABSL_GUARDED_BY(mutex_);  // neither commands nor reads
  // The time when the deciding thread began its present work.
  Clock::time_point working_since_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  // Shared stores only: the last time when this server knew all entries of others.
  Clock::time_point caught_up_at_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  // A call was refused for a failure that may have passed. Needed because absl's timeouts follow
  // the wall clock, which may have been set back.
  bool asked_while_failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const core::TokenTable> tokens_ ABSL_GUARDED_BY(mutex_);

  // Declared before `thread_`, which passes it the last replies.
  ReplyThread replies_;
  std::thread thread_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
