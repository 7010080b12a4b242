#ifndef EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_
#define EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/core/durable_ledger.h"
#include "server/core/ledger.h"
#include "server/core/tenant.h"
#include "server/storage/replica.h"

namespace epsledger::storage {

// The listeners that wait for the next commit of a ledger, or for the next budget of a tenant.
// Without listeners, a commit costs two comparisons. Not thread-safe: only the deciding thread uses
// it.
class CommitListeners {
 public:
  // REQUIRES: `replica` outlives this.
  explicit CommitListeners(const Replica& replica) : replica_(replica) {}

  // REQUIRES: `ledger` outlives this.
  void Add(const core::Ledger& ledger, std::weak_ptr<core::CommitListener> listener);
  void AddForBudget(const core::Tenant& tenant, std::weak_ptr<core::CommitListener> listener);
  // Calls and removes the listeners whose ledger has grown since they were added, or whose tenant
  // has got a budget.
  void Notify();

 private:
  using Listeners = std::vector<std::weak_ptr<core::CommitListener>>;
  struct Waiting {
    // When the first listener was added: the sequence number of the ledger's head, or the number of
    // the tenant's budgets.
    int64_t seen = 0;
    Listeners listeners;
  };
  static void AddTo(Waiting* waiting, int64_t seen, std::weak_ptr<core::CommitListener> listener);

  const Replica& replica_;
  std::map<const core::Ledger*, Waiting> for_commit_;
  std::map<std::string, Waiting, std::less<>> for_budget_;  // by tenant
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_COMMIT_LISTENERS_H_
