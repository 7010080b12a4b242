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

// Who waits for the next commit of which ledger. While nobody does, a commit costs one comparison.
// Not thread-safe: of the deciding thread.
class CommitListeners {
 public:
  // REQUIRES: `ledger` outlives this.
  void Add(const core::Ledger& ledger, std::weak_ptr<core::CommitListener> listener);
  // Calls and forgets those whose ledger has grown since they were added.
  void Notify();

 private:
  struct Waiting {
    int64_t sequence = 0;  // of the head when the first of them was added
    // When it is full, those who have gone make room first: listeners that come and go at a ledger
    // to which nothing happens take no more memory than twice those that stay.
    std::vector<std::weak_ptr<core::CommitListener>> listeners;
  };
  std::map<const core::Ledger*, Waiting> waiting_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_
