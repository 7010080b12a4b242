#ifndef EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
#define EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/core/access_ledger.h"
#include "server/core/durable_ledger.h"
#include "server/core/ledger.h"
#include "server/core/tenant.h"
#include "server/storage/commit_listeners.h"
#include "server/storage/ledger_store.h"
#include "server/storage/reply_thread.h"

namespace epsledger::storage {

// All ledgers of one process over one store. One thread decides: while its transaction is being
// committed, arriving commands queue up and go into the next one together (natural group commit),
// so that an fsync is shared by as many charges as arrived during the one before. Another thread
// tells the outcomes, in the order in which they were decided.
//
// Invariants: a reply with an outcome is called only after the commit that holds its entries (I7);
// reads run between commits and see durable state only; after the first failure of the store
// nothing is acknowledged again.
class GroupCommitLedger : public core::DurableLedger {
 public:
  struct Options {
    // Commands in one transaction. Bounds how long a commit holds the others up.
    size_t max_batch = 1024;
    // Commands and reads that may wait; beyond that core::Overload, at once and on the caller's
    // thread. About a second of them: what waits longer than its client does is still charged, so a
    // long queue would spend budgets on calls that nobody waits for. What a reply asks for itself
    // is never refused: it tells of a command that was done.
    size_t max_queue = 16'384;
    // Committed batches whose replies may wait; then decisions do.
    size_t max_untold_batches = 16;
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
  absl::Status Health() const override;

  // Entries replayed by Open.
  int64_t recovered_entry_count() const { return recovered_entry_count_; }
  int64_t recovered_budget_count() const { return recovered_budget_count_; }

 private:
  class Reader;
  struct Write {
    core::Tenant tenant;
    core::Command command;
    Reply reply;
  };
  struct TenantRead {
    core::Tenant tenant;
    ReadFunction read;
  };
  using Item = std::variant<Write, TenantRead>;
  // A tenant's budgets, each with its ledger.
  using LedgerOfBudget = std::map<std::string, core::Ledger*, std::less<>>;

  GroupCommitLedger(std::unique_ptr<LedgerStore> store, Options options);
  absl::Status Recover();
  void Enqueue(Item item) ABSL_LOCKS_EXCLUDED(mutex_);
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Decides and commits the writes; then has the replies told, and calls the listeners and the
  // reads.
  void RunBatch(std::vector<Write> writes, std::vector<TenantRead> reads)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Decides one command and appends its entries. Sets `*store_status` if the store failed.
  absl::StatusOr<core::Outcome> Decide(const Write& write, bool* in_transaction,
                                       absl::Status* store_status);
  absl::StatusOr<core::Outcome> DecideAccess(const core::AccessCommand& command,
                                             int64_t time_micros, bool* in_transaction,
                                             absl::Status* store_status);
  // Appends one entry, in the transaction of the batch.
  absl::Status Store(const std::string& stored_root_id, const core::Entry& entry,
                     bool* in_transaction);
  // Shows the tokens as they are now durable.
  void PublishTokens() ABSL_LOCKS_EXCLUDED(mutex_);
  // The tenant's; empty if it has none.
  const LedgerOfBudget& BudgetsOf(const core::Tenant& tenant) const;
  // The ledger that a command is about; for a new root budget a fresh one. `*root_id` is its name
  // in the store.
  core::Ledger* Route(const core::Tenant& tenant, const core::Command& command,
                      std::unique_ptr<core::Ledger>* fresh, std::string* root_id);
  // DATA_LOSS if a client has seen an entry that the ledger does not hold; that ledger is then
  // read-only until the server is restarted.
  absl::Status CheckSeen(const core::Tenant& tenant, const core::Command& command);
  // Budget ids are unique over all ledgers of a tenant.
  absl::Status CheckSuccessor(const core::Tenant& tenant, const core::Command& command) const;
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  int64_t recovered_entry_count_ = 0;
  int64_t recovered_budget_count_ = 0;

  // Of the deciding thread alone, once it runs.
  std::unique_ptr<LedgerStore> store_;
  // Root ids here are those of the store: core::StoredId.
  std::map<std::string, std::unique_ptr<core::Ledger>, std::less<>> ledgers_;  // by root id
  std::map<std::string, LedgerOfBudget, std::less<>> ledger_of_budget_;        // by tenant
  std::map<std::string, absl::Status, std::less<>> quarantined_;               // why, by root id
  core::AccessLedger access_;
  CommitListeners listeners_;

  mutable absl::Mutex mutex_;
  std::deque<Item> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const core::TokenTable> tokens_ ABSL_GUARDED_BY(mutex_);

  // Before `thread_`, which gives it the last replies.
  ReplyThread replies_;
  std::thread thread_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
