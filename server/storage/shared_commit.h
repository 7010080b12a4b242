#ifndef EPSLEDGER_SERVER_STORAGE_SHARED_COMMIT_H_
#define EPSLEDGER_SERVER_STORAGE_SHARED_COMMIT_H_

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/storage/commit_strategy.h"
#include "server/storage/group_commit_options.h"
#include "server/storage/ledger_store.h"
#include "server/storage/published_tokens.h"
#include "server/storage/replica.h"

namespace epsledger::storage {

// Commits to a shared store. Each batch locks its ledgers, replays the entries that other servers
// appended to them, and then decides; reads first replay new entries. After a failure both continue
// as soon as the database answers.
class SharedCommit final : public CommitStrategy {
 public:
  // REQUIRES: the others outlive this; `store` is shared.
  SharedCommit(LedgerStore& store, Replica& replica, RequestQueue& queue, PublishedTokens& tokens,
               const GroupCommitOptions& options);

  absl::Status Start() override;
  absl::Status Commit(Batch* batch, Outcomes* outcomes) override;
  bool BringUpToDate() override;
  bool LookAgain() override;
  Batch TakeSetAside() override;
  std::vector<ReplyThread::Answer> TakeOverdue() override;
  bool HasSetAside() const override { return !aside_.empty(); }
  Clock::time_point due() const override { return std::min(next_look_, next_try_); }
  void BeginWork() override ABSL_LOCKS_EXCLUDED(mutex_);
  void EndWork() override ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckProgress() const override ABSL_LOCKS_EXCLUDED(mutex_);
  bool TokensAreCurrent() const override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Calls Transact, and repeats it where that may help.
  absl::Status TransactAgain(Batch* batch, Outcomes* outcomes);
  // Makes one attempt at the writes of a batch. Writes without enough time go back to the queue;
  // DEADLINE_EXCEEDED if another server holds a ledger.
  absl::Status Transact(Batch* batch, Outcomes* outcomes);
  // Handles writes of which some need a ledger that another server holds: decides the writes of
  // other ledgers, each ledger by itself, and sets the rest aside. Afterwards the batch and the
  // outcomes contain only the decided writes.
  absl::Status TransactApart(Batch* batch, Outcomes* outcomes);

  // Begins a transaction that holds the ledgers of the writes in their present state.
  absl::Status HoldLedgersOf(const std::vector<Write>& writes);
  // Adds requests to the batch that arrived while it waited for its ledgers: the next ones of the
  // queue, as long as they need only those ledgers.
  void TopUp(Batch* batch);
  bool NeedsOnlyHeld(const RequestQueue::Item& item) const;
  // Looks up the keys of the writes in one request before they are decided.
  absl::Status PrefetchKeysOf(const std::vector<Write>& writes);
  // Sets `*store_status` if the transaction is over.
  absl::StatusOr<core::Outcome> Decide(const Write& write, absl::Status* store_status);
  absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                        const core::ChargeKey& key,
                                                        absl::Status* store_status);

  // Sets aside the writes of the batch that need ledgers which are known to be held elsewhere.
  void SetAside(Batch* batch);
  std::vector<std::string> LedgersOf(const Write& write) const {
    return replica_.LedgersOf(write.tenant, write.command, {});
  }

  // Replays the entries that others have appended. An error if commands are refused afterwards.
  absl::Status CatchUp() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ApplyForeign(const std::string& root_id, const core::Entry& entry);

  LedgerStore& store_;
  SharedLedgers& shared_;  // of store_
  Replica& replica_;
  RequestQueue& queue_;
  PublishedTokens& tokens_;
  const GroupCommitOptions options_;

  bool in_transaction_ = false;      // with entries
  std::vector<std::string> held_;    // the ledgers of the open transaction, in order
  std::set<std::string> unsettled_;  // ledgers that may be incomplete in memory
  Clock::time_point next_look_ = Clock::time_point::max();
  // Ledgers that another server holds, and the writes that wait for them, in order.
  std::set<std::string> held_elsewhere_;
  std::vector<Write> aside_;
  Clock::time_point next_try_ = Clock::time_point::max();

  mutable absl::Mutex mutex_;
  // The time when the deciding thread began its present work.
  Clock::time_point working_since_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  // The last time when this server knew all entries of others.
  Clock::time_point caught_up_at_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SHARED_COMMIT_H_
