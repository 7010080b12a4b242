#ifndef EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
#define EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/access_ledger.h"
#include "server/core/durable_ledger.h"
#include "server/core/tenant.h"
#include "server/storage/commit_listeners.h"
#include "server/storage/commit_strategy.h"
#include "server/storage/group_commit_options.h"
#include "server/storage/ledger_store.h"
#include "server/storage/published_tokens.h"
#include "server/storage/replica.h"
#include "server/storage/reply_thread.h"
#include "server/storage/request_queue.h"

namespace epsledger::storage {

// All ledgers of one process over one store. One thread decides. While its transaction is being
// committed, arriving commands queue up and go together into the next one (natural group commit),
// so one fsync serves all charges that arrived during the previous one. Another thread reports the
// outcomes, in the order of the decisions.
//
// Invariants: a reply with an outcome is called only after the commit that holds its entries (I7);
// reads run between commits and see durable state only.
//
// How a batch is committed, and what follows a failure, differs between a store that one server
// holds (HeldCommit) and one that many servers share (SharedCommit).
class GroupCommitLedger : public core::DurableLedger {
 public:
  using Options = GroupCommitOptions;

  // Replays everything in `store` (checking the hash chain and every cap on the way) and starts.
  // DATA_LOSS if the stored ledger does not verify.
  static absl::StatusOr<std::unique_ptr<GroupCommitLedger>> Open(std::unique_ptr<LedgerStore> store,
                                                                 Options options);

  // Finishes everything that is queued, then stops.
  ~GroupCommitLedger() override;

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override;
  void Read(core::Tenant tenant, ReadFunction read) override;
  std::shared_ptr<const core::TokenTable> Tokens() const override { return tokens_.Get(); }
  bool TokensAreCurrent() const override { return strategy_->TokensAreCurrent(); }
  absl::Status Health() const override;
  std::vector<core::Incarnation> Incarnations() const override { return incarnations_; }

  // Replayed by Open.
  int64_t recovered_entry_count() const { return recovered_entry_count_; }
  int64_t recovered_budget_count() const { return recovered_budget_count_; }

 private:
  using Batch = RequestQueue::Batch;
  using Outcomes = CommitStrategy::Outcomes;

  GroupCommitLedger(std::unique_ptr<LedgerStore> store, Options options);
  absl::Status Recover();
  void Loop();
  // Decides and commits the writes; then passes the replies on, and calls the listeners and the
  // reads.
  void RunBatch(Batch batch);
  void RunReads(std::vector<RequestQueue::Read> reads);
  // Passes on the outcomes of the writes, or why they have none.
  void Answer(std::vector<RequestQueue::Write> writes, Outcomes outcomes,
              const absl::Status& failure);
  // Queues the commands that record lost entries, if they can be written.
  void RecordLostEntries();
  // True within a reply or a read.
  bool IsThreadOfLedger() const;

  const Options options_;
  int64_t recovered_entry_count_ = 0;
  int64_t recovered_budget_count_ = 0;
  std::vector<core::Incarnation> incarnations_;

  // Only the deciding thread uses these once it runs.
  const std::unique_ptr<LedgerStore> store_;
  Replica replica_;
  CommitListeners listeners_{replica_};

  RequestQueue queue_;
  PublishedTokens tokens_;
  const std::unique_ptr<CommitStrategy> strategy_;
  // Declared before `thread_`, which passes it the last replies.
  ReplyThread replies_;
  std::thread thread_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_LEDGER_H_
