#ifndef EPSLEDGER_SERVER_STORAGE_PUBLISHED_TOKENS_H_
#define EPSLEDGER_SERVER_STORAGE_PUBLISHED_TOKENS_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/core/access_ledger.h"
#include "server/storage/replica.h"

namespace epsledger::storage {

// The tokens that calls are checked against, as durable at the last Publish. Get may be called on
// any thread; Publish only on the deciding one.
class PublishedTokens {
 public:
  // Takes over the tokens of the ledger of access if they have changed. If that ledger is in
  // quarantine the tokens stay as they are: after a loss, revoked ones would be valid again.
  // REQUIRES: what `replica` holds of the ledger of access is durable.
  void Publish(const Replica& replica) ABSL_LOCKS_EXCLUDED(mutex_);
  // Nullptr before the first Publish.
  std::shared_ptr<const core::TokenTable> Get() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  core::LedgerHead head_;  // of the published tokens
  mutable absl::Mutex mutex_;
  std::shared_ptr<const core::TokenTable> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_PUBLISHED_TOKENS_H_
