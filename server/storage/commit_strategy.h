#ifndef EPSLEDGER_SERVER_STORAGE_COMMIT_STRATEGY_H_
#define EPSLEDGER_SERVER_STORAGE_COMMIT_STRATEGY_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/durable_ledger.h"
#include "server/storage/reply_thread.h"
#include "server/storage/request_queue.h"

namespace epsledger::storage {

// How the commands of a batch are decided and made durable, and how memory follows the store:
// HeldCommit for a store that one server holds, SharedCommit for one that many servers share.
//
// Guarantee: after every call, what the replica shows is durable, or the queue refuses reads.
//
// Only the deciding thread uses it, except the const methods that say otherwise.
class CommitStrategy {
 public:
  using Clock = RequestQueue::Clock;
  using Write = RequestQueue::Write;
  using Batch = RequestQueue::Batch;
  using Outcomes = std::vector<absl::StatusOr<core::Outcome>>;

  virtual ~CommitStrategy() = default;

  // Called once, when the replica has replayed everything in the store.
  virtual absl::Status Start() = 0;

  // Decides and commits the writes of a batch. OK: `outcomes` has one outcome for each write that
  // is still in the batch, and everything in them is durable; the other writes were put back or set
  // aside. An error: the outcomes of all writes that are still in the batch are unknown, and the
  // error is the answer to each. REQUIRES: the batch has writes.
  virtual absl::Status Commit(Batch* batch, Outcomes* outcomes) = 0;

  // Called before reads. Returns true if it may have applied entries of other servers.
  virtual bool BringUpToDate() { return false; }

  // Does what is due besides requests: tries a store that can only be read, or replays the entries
  // of other servers. Returns true if memory then has all of those.
  virtual bool LookAgain() = 0;

  // Returns the writes that were set aside, if it is time to try them again.
  virtual Batch TakeSetAside() { return {}; }
  // Returns the answers to the writes that have been set aside for too long. Called after the
  // writes of TakeSetAside were tried.
  virtual std::vector<ReplyThread::Answer> TakeOverdue() { return {}; }
  virtual bool HasSetAside() const { return false; }

  // The time when LookAgain or TakeSetAside has something to do.
  virtual Clock::time_point due() const = 0;

  // Called around the work on a batch and on what is due.
  virtual void BeginWork() {}
  virtual void EndWork() {}
  // UNAVAILABLE if the present work takes so long that the database does not seem to answer. Any
  // thread.
  virtual absl::Status CheckProgress() const { return absl::OkStatus(); }
  // As core::DurableLedger::TokensAreCurrent. Any thread.
  virtual bool TokensAreCurrent() const { return true; }
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_COMMIT_STRATEGY_H_
