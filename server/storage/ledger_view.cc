#include "server/storage/ledger_view.h"

#include <iterator>
#include <utility>
#include <variant>

#include "accounting/event/status_macros.h"
#include "server/core/limits.h"

namespace epsledger::storage {

using core::Entry;
using core::Ledger;

namespace {

// Removes the entries that are newer than `ledger`: a shared store may have them already.
absl::StatusOr<std::vector<Entry>> Visible(const Ledger& ledger,
                                           absl::StatusOr<std::vector<Entry>> entries) {
  if (!entries.ok()) return entries;
  while (!entries->empty() && entries->back().sequence > ledger.head().sequence) {
    entries->pop_back();
  }
  return entries;
}

}  // namespace

LedgerView::LedgerView(Replica& replica, LedgerStore& store, CommitListeners& listeners,
                       core::Tenant tenant)
    : replica_(replica),
      store_(store),
      listeners_(listeners),
      tenant_(std::move(tenant)),
      budgets_(replica.BudgetsOf(tenant_)) {}

const Ledger* LedgerView::LedgerOf(std::string_view budget_id) const {
  const auto it = budgets_.find(budget_id);
  return it == budgets_.end() ? nullptr : it->second;
}

std::vector<std::string> LedgerView::BudgetIds(std::string_view after_id, int64_t limit) const {
  std::vector<std::string> ids;
  for (auto it = budgets_.upper_bound(after_id);
       it != budgets_.end() && static_cast<int64_t>(ids.size()) < limit; ++it) {
    ids.push_back(it->first);
  }
  return ids;
}

absl::StatusOr<std::optional<core::ChargeRecord>> LedgerView::FindCharge(
    const core::SessionName& name, int64_t attempt, std::string_view charge_id) {
  ASSIGN_OR_RETURN(std::optional<Entry> entry, FindKey(name, attempt, std::string(charge_id)));
  if (!entry.has_value()) return std::nullopt;
  return LedgerOf(name.budget_id)->ToRecord(*entry);
}

absl::StatusOr<std::optional<core::LeaseSettled>> LedgerView::FindSettlement(
    const core::SessionName& name, int64_t attempt, std::string_view lease_id) {
  ASSIGN_OR_RETURN(std::optional<Entry> entry,
                   FindKey(name, attempt, core::SettlementId(std::string(lease_id))));
  if (!entry.has_value()) return std::nullopt;
  const auto* settled = std::get_if<core::LeaseSettled>(&entry->body);
  if (settled == nullptr) return absl::DataLossError("ledger: a settlement is damaged");
  return *settled;
}

absl::StatusOr<std::vector<Entry>> LedgerView::ListEntries(const Ledger& ledger,
                                                           int64_t after_sequence, int64_t limit) {
  const std::string id = StoredRootId(ledger);
  return Visible(ledger, store_.ReadEntries(id, after_sequence, limit, core::kMaxListedBytes));
}

absl::StatusOr<core::LedgerReader::ChargePage> LedgerView::ListCharges(
    const core::SessionName& name, int64_t after_sequence, int64_t limit) {
  const Ledger* ledger = LedgerOf(name.budget_id);
  const core::SessionState* session = ledger == nullptr ? nullptr : ledger->FindSession(name);
  if (session == nullptr) return ChargePage();
  ASSIGN_OR_RETURN(
      std::vector<Entry> entries,
      Visible(*ledger, store_.ListCharges(StoredRootId(*ledger), session->number, after_sequence,
                                          limit, core::kMaxListedBytes)));
  ChargePage page;
  for (int64_t bytes = 0; const Entry& entry : entries) {
    ASSIGN_OR_RETURN(core::ChargeRecord record, ledger->ToRecord(entry));
    page.records.push_back(std::move(record));
    bytes += static_cast<int64_t>(entry.content.size());
    page.is_cut = bytes >= core::kMaxListedBytes || std::ssize(page.records) >= limit;
  }
  return page;
}

void LedgerView::NotifyOfNextCommit(const Ledger& ledger,
                                    std::weak_ptr<core::CommitListener> listener) {
  listeners_.Add(ledger, std::move(listener));
}

void LedgerView::NotifyOfNextBudget(std::weak_ptr<core::CommitListener> listener) {
  listeners_.AddForBudget(tenant_, std::move(listener));
}

std::vector<core::LedgerReader::TenantLedger> LedgerView::AllLedgers() const {
  std::vector<TenantLedger> all;
  for (const auto& [root_id, ledger] : replica_.ledgers()) {
    all.push_back({std::string(core::TenantNameOf(root_id)), ledger.get()});
  }
  return all;
}

int64_t LedgerView::QuarantinedLedgerCount() const { return replica_.quarantined_count(); }

std::vector<core::QuarantinedLedger> LedgerView::QuarantinedLedgers() const {
  return replica_.QuarantinedOf(tenant_);
}

int64_t LedgerView::UnprovedHeadCount() const { return replica_.unproved_head_count(); }

const core::AccessLedger& LedgerView::Access() const { return replica_.access(); }

absl::StatusOr<std::vector<Entry>> LedgerView::ListAccessEntries(int64_t after_sequence,
                                                                 int64_t limit) {
  return store_.ReadEntries(core::kAccessRootId, after_sequence, limit, kAnyBytes);
}

std::string LedgerView::StoredRootId(const Ledger& ledger) const {
  return core::StoredId(tenant_.name, ledger.root_id());
}

absl::StatusOr<std::optional<Entry>> LedgerView::FindKey(const core::SessionName& name,
                                                         int64_t attempt, std::string charge_id) {
  const Ledger* ledger = LedgerOf(name.budget_id);
  const core::SessionState* session = ledger == nullptr ? nullptr : ledger->FindSession(name);
  if (session == nullptr) return std::nullopt;
  const core::ChargeKey key{session->number, attempt, std::move(charge_id)};
  absl::StatusOr<std::optional<Entry>> entry = store_.FindCharge(StoredRootId(*ledger), key);
  if (entry.ok()) {
    RETURN_IF_ERROR(replica_.CheckFound(StoredRootId(*ledger), key, *entry));
  }
  if (entry.ok() && entry->has_value() && (*entry)->sequence > ledger->head().sequence) {
    return std::nullopt;
  }
  return entry;
}

}  // namespace epsledger::storage
