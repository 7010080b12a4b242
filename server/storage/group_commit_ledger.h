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

// All ledgers of one process over one store. One thread decides: while its transaction is being
// committed, arriving commands queue up and go into the next one together (natural group commit),
// so that an fsync is shared by as many charges as arrived during the one before. Another thread
// tells the outcomes, in the order in which they were decided.
//
// Invariants: a reply with an outcome is called only after the commit that holds its entries (I7);
// reads run between commits and see durable state only.
//
// After a failure what is known of the ledgers in flight is thrown away and read again. The calls
// of the batch are answered UNAVAILABLE. A store that is held is then read only: commands are
// refused with core::ReadOnly, reads go on, and a trial every second tells when it can be written
// again. A sync that failed ends that until the process is restarted, and so does a store that
// cannot be read.
//
// Over a shared store each batch locks the ledgers that it is about, replays what other servers
// appended to them, and decides then; reads replay what there is first. After a failure both go on
// as soon as the database answers.
class GroupCommitLedger : public core::DurableLedger {
 public:
  struct Options {
    // Commands in one transaction. Bounds how long a commit holds the others up.
    size_t max_batch = 1024;
    // Commands and reads of one tenant that may wait, of all together twice as many; beyond that
    // core::Overload, at once and on the caller's thread. About a second of them: what waits longer
    // than its client does is still charged, so a long queue would spend budgets on calls that
    // nobody waits for. What a reply asks for itself is never refused: it tells of a command that
    // was done.
    size_t max_queue = 16'384;
    // After so long the other reads of a batch wait until what came meanwhile is decided.
    absl::Duration max_reading = absl::Milliseconds(1);
    // Committed batches whose replies may wait; then decisions do.
    size_t max_untold_batches = 16;
    // A held store that can only be read is tried again after this long.
    absl::Duration resume_interval = absl::Seconds(1);
    // Shared stores only, as the next four. An idle server looks this often for what others append,
    // and waits this long after a failure before it tries again.
    absl::Duration catch_up_interval = absl::Milliseconds(250);
    // A database that does not answer for this long (because it waits for a standby that is gone,
    // say) is no longer served from.
    absl::Duration patience = absl::Seconds(10);
    // After this long without an answer the server does not know which tokens were revoked. Longer
    // than max_deciding.
    absl::Duration token_patience = absl::Seconds(5);
    // What is not decided by then goes into the next transaction. Others wait for
    // the ledgers of this one, and the database throws out who holds them for too long
    // (kSessionSettings of the PostgreSQL store).
    absl::Duration max_deciding = absl::Seconds(3);
    // Commands wait this long for a ledger that another server holds.
    absl::Duration hold_patience = absl::Seconds(10);
    // Entries that were published, and that the store must hold (Replica::CheckPublished).
    std::vector<core::NamedEntry> published;
  };

  // Replays everything in `store` (checking the hash chain and every cap on the way) and starts.
  // DATA_LOSS if the stored ledger does not verify.
  static absl::StatusOr<std::unique_ptr<GroupCommitLedger>> Open(std::unique_ptr<LedgerStore> store,
                                                                 Options options);

  // Finishes what is queued, then stops.
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
    // Since when it waits for a ledger that another server holds.
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
  // Decides and commits the writes; then has the replies told, and calls the listeners and the
  // reads.
  void RunBatch(Batch batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // One attempt at the writes of a batch, an outcome for each. Over a shared store those that it
  // has no time for go back to the queue; DEADLINE_EXCEEDED if another server holds a ledger.
  absl::Status Transact(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // The stored hash of an entry; nothing if there is no such entry.
  absl::StatusOr<std::optional<core::Hash>> HashOf(const std::string& root_id, int64_t sequence);
  // DATA_LOSS, and the ledger is in quarantine, if the entry that the store found for a key is of
  // another one.
  absl::Status CheckFound(const std::string& root_id, const core::ChargeKey& key,
                          const std::optional<core::Entry>& found);
  // Decides one command and appends its entries. Sets `*store_status` if the store failed.
  absl::StatusOr<core::Outcome> Decide(const Write& write, absl::Status* store_status);
  // What the head that a command brings proves (Replica::CheckSeen).
  absl::Status CheckSeen(const Write& write);
  // Queues the commands that record what was found to be lost, if they can be written.
  void RecordLostEntries() ABSL_LOCKS_EXCLUDED(mutex_);
  // Shows the tokens if they have changed; they are durable.
  void PublishTokens() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Failure() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Nothing is served any more.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Everything is served again.
  void Serve(const char* why) ABSL_LOCKS_EXCLUDED(mutex_);
  void LookAgainIn(absl::Duration interval);

  // Held stores only.
  // Transact, and after an error the durable state again.
  absl::Status TransactHeld(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // Ends the transaction, and replays the ledgers to which it had appended from the store.
  absl::Status ReadAgain();
  void BecomeReadOnly(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes commands again if the store can be written.
  void Resume() ABSL_LOCKS_EXCLUDED(mutex_);

  // Shared stores only.
  // Begins a transaction that holds the ledgers of the writes, as they are now.
  absl::Status HoldLedgersOf(const std::vector<Write>& writes);
  // What is known of the keys of the writes before they are decided need not be asked one by one.
  absl::Status PrefetchKeysOf(const std::vector<Write>& writes);
  // Transact, again where that may help.
  absl::Status TransactShared(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // For writes that met a ledger that another server holds: decides those of other ledgers, each
  // ledger by itself, and sets the rest aside. The batch and the outcomes are then of those that
  // were decided.
  absl::Status TransactApart(Batch* batch, std::vector<absl::StatusOr<core::Outcome>>* outcomes);
  // What of the batch is about ledgers that are known to be held.
  void SetAside(Batch* batch);
  // Tries what was set aside once more.
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
  // Takes into the batch what has come while it waited for its ledgers: the next of the queue, as
  // long as it is of those ledgers alone.
  void TopUp(Batch* batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Replays what others have appended, and says how that went (Health).
  absl::Status CatchUp() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ApplyForeign(const std::string& root_id, const core::Entry& entry);

  const Options options_;
  int64_t recovered_entry_count_ = 0;
  int64_t recovered_budget_count_ = 0;
  std::vector<core::Incarnation> incarnations_;

  // The deciding thread alone uses these, once it runs.
  std::unique_ptr<LedgerStore> store_;
  SharedLedgers* const shared_;  // of store_; nullptr if it is held
  Replica replica_;
  bool in_transaction_ = false;
  std::vector<std::string> appended_;  // to these ledgers, in the open transaction
  // When to catch up with a shared store, or to try one that can only be read.
  Clock::time_point next_look_ = Clock::time_point::max();
  core::LedgerHead published_access_;
  // Shared stores only: the ledgers of the open transaction, and those that may not be complete in
  // memory.
  std::vector<std::string> held_;
  std::set<std::string> unsettled_;
  // Ledgers that another server holds, and what waits for them, in order.
  std::set<std::string> held_elsewhere_;
  std::vector<Write> aside_;
  Clock::time_point next_try_ = Clock::time_point::max();
  CommitListeners listeners_;

  mutable absl::Mutex mutex_;
  FairQueue<Item> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);     // no commands
  absl::Status unreadable_ ABSL_GUARDED_BY(mutex_);  // neither commands nor reads
  // When the deciding thread began what it does now.
  Clock::time_point working_since_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  // Shared stores only: when this server last knew what others had appended.
  Clock::time_point caught_up_at_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  // Somebody was refused for a failure that may have passed: absl's timeouts follow the clock on
  // the wall, which may have been set back.
  bool asked_while_failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const core::TokenTable> tokens_ ABSL_GUARDED_BY(mutex_);

  // Before `thread_`, which gives it the last replies.
  ReplyThread replies_;
  std::thread thread_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
