#ifndef EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_
#define EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "server/core/durable_ledger.h"
#include "server/core/ledger.h"

namespace epsledger::storage {

// The listeners that wait for the next commit of a ledger. Without listeners, a commit costs one
// comparison. Not thread-safe: only the deciding thread uses it.
class CommitListeners {
 public:
  // REQUIRES: `ledger` outlives this.
  void Add(const core::Ledger& ledger, std::weak_ptr<core::CommitListener> listener);
  // Calls and removes the listeners whose ledger has grown since they were added.
  void Notify();

 private:
  struct Waiting {
    int64_t sequence = 0;  // of the head when the first listener was added
    // When the vector is full, expired listeners are removed before it grows. So listeners that
    // come and go at an idle ledger use at most twice the memory of those that stay.
    std::vector<std::weak_ptr<core::CommitListener>> listeners;
  };
  std::map<const core::Ledger*, Waiting> waiting_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_
