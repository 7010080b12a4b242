#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_VIEW_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/durable_ledger.h"
#include "server/storage/commit_listeners.h"
#include "server/storage/ledger_store.h"
#include "server/storage/replica.h"

namespace epsledger::storage {

// What a read sees: the ledgers of one tenant in memory, and their entries in the store, as far as
// memory holds them. Lives between two commits, on the deciding thread.
class LedgerView final : public core::LedgerReader {
 public:
  // REQUIRES: the others outlive this; no transaction is open.
  LedgerView(Replica& replica, LedgerStore& store, CommitListeners& listeners, core::Tenant tenant);

  const core::Ledger* LedgerOf(std::string_view budget_id) const override;
  std::vector<std::string> BudgetIds(std::string_view after_id, int64_t limit) const override;
  absl::StatusOr<std::optional<core::ChargeRecord>> FindCharge(const core::SessionName& name,
                                                               int64_t attempt,
                                                               std::string_view charge_id) override;
  absl::StatusOr<std::optional<core::LeaseSettled>> FindSettlement(
      const core::SessionName& name, int64_t attempt, std::string_view lease_id) override;
  absl::StatusOr<std::vector<core::Entry>> ListEntries(const core::Ledger& ledger,
                                                       int64_t after_sequence,
                                                       int64_t limit) override;
  absl::StatusOr<ChargePage> ListCharges(const core::SessionName& name, int64_t after_sequence,
                                         int64_t limit) override;
  void NotifyOfNextCommit(const core::Ledger& ledger,
                          std::weak_ptr<core::CommitListener> listener) override;
  void NotifyOfNextBudget(std::weak_ptr<core::CommitListener> listener) override;
  std::vector<TenantLedger> AllLedgers() const override;
  int64_t QuarantinedLedgerCount() const override;
  std::vector<core::QuarantinedLedger> QuarantinedLedgers() const override;
  int64_t UnprovedHeadCount() const override;
  const core::AccessLedger& Access() const override;
  absl::StatusOr<std::vector<core::Entry>> ListAccessEntries(int64_t after_sequence,
                                                             int64_t limit) override;

 private:
  std::string StoredRootId(const core::Ledger& ledger) const;
  absl::StatusOr<std::optional<core::Entry>> FindKey(const core::SessionName& name, int64_t attempt,
                                                     std::string charge_id);

  Replica& replica_;
  LedgerStore& store_;
  CommitListeners& listeners_;
  const core::Tenant tenant_;
  const Replica::LedgerOfBudget& budgets_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_VIEW_H_
