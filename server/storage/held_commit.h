#ifndef EPSLEDGER_SERVER_STORAGE_HELD_COMMIT_H_
#define EPSLEDGER_SERVER_STORAGE_HELD_COMMIT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/commit_strategy.h"
#include "server/storage/ledger_store.h"
#include "server/storage/published_tokens.h"
#include "server/storage/replica.h"

namespace epsledger::storage {

// Commits to a held store. Nobody else writes to it, so memory is always what the store holds, and
// a batch without new entries needs no transaction.
//
// After a failure the ledgers in flight are discarded and read again, and the calls of the batch
// are answered UNAVAILABLE. The store is then read only: commands are refused with core::ReadOnly,
// reads continue, and a trial after every `resume_interval` detects when the store can be written
// again. After a failed sync, or if the store cannot be read, there are no more trials until the
// process is restarted.
class HeldCommit final : public CommitStrategy {
 public:
  // REQUIRES: the others outlive this.
  HeldCommit(LedgerStore& store, Replica& replica, RequestQueue& queue, PublishedTokens& tokens,
             absl::Duration resume_interval);

  absl::Status Start() override;
  absl::Status Commit(Batch* batch, Outcomes* outcomes) override;
  // Takes commands again if the store can be written.
  bool LookAgain() override;
  Clock::time_point due() const override { return next_trial_; }

 private:
  absl::Status Transact(const std::vector<Write>& writes, Outcomes* outcomes);
  // Sets `*store_status` if an entry could not be appended.
  absl::StatusOr<core::Outcome> Decide(const Write& write, absl::Status* store_status);
  absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                        const core::ChargeKey& key);
  absl::Status Append(const std::string& root_id, const core::Entry& entry);
  // Ends the transaction, and replays from the store the ledgers to which it had appended.
  absl::Status ReadAgain();
  void BecomeReadOnly(const absl::Status& why);

  LedgerStore& store_;
  Replica& replica_;
  RequestQueue& queue_;
  PublishedTokens& tokens_;
  const absl::Duration resume_interval_;
  bool in_transaction_ = false;
  std::vector<std::string> appended_;  // ledgers of the last transaction's entries
  Clock::time_point next_trial_ = Clock::time_point::max();
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_HELD_COMMIT_H_
