#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_MEMORY_STORE_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_MEMORY_STORE_H_

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "server/core/tenant.h"
#include "server/storage/ledger_store.h"

namespace epsledger::storage {

// A store that loses everything when its process ends.
class MemoryStore : public LedgerStore {
 public:
  absl::Status ReadAll(
      absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit)
      override;
  absl::Status Begin() override;
  absl::Status Append(const std::string& root_id, const core::Entry& entry) override;
  absl::Status Commit() override;
  absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                       int64_t after_sequence, int64_t limit,
                                                       int64_t max_bytes) override;
  absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                        const core::ChargeKey& key) override;
  absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                       int64_t session_number,
                                                       int64_t after_sequence, int64_t limit,
                                                       int64_t max_bytes) override;

 private:
  using Key = std::tuple<int64_t, int64_t, std::string>;  // session number, attempt, charge id
  struct StoredLedger {
    std::vector<core::Entry> entries;
    std::map<Key, int64_t> charge_sequences;
  };
  bool in_transaction_ = false;
  std::vector<std::string> root_ids_;  // in order of creation
  std::map<std::string, StoredLedger> ledgers_;
  std::set<std::string> budget_ids_;
};

inline absl::Status MemoryStore::ReadAll(
    absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit) {
  for (const std::string& root_id : root_ids_) {
    for (const core::Entry& entry : ledgers_[root_id].entries) {
      if (absl::Status status = visit(root_id, entry); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

inline absl::Status MemoryStore::Begin() {
  if (in_transaction_) return absl::FailedPreconditionError("a transaction is open already");
  in_transaction_ = true;
  return absl::OkStatus();
}

inline absl::Status MemoryStore::Append(const std::string& root_id, const core::Entry& entry) {
  if (!in_transaction_) return absl::FailedPreconditionError("no transaction is open");
  StoredLedger& ledger = ledgers_[root_id];
  if (entry.sequence != static_cast<int64_t>(ledger.entries.size()) + 1) {
    return absl::AbortedError("the sequence number is not the next one");
  }
  if (const std::optional<core::ChargeKey> taken = core::KeyOf(entry.body)) {
    const Key key(taken->session_number, taken->attempt, taken->charge_id);
    if (!ledger.charge_sequences.emplace(key, entry.sequence).second) {
      return absl::AbortedError("the charge key is taken");
    }
  }
  if (const core::BudgetSpec* budget = core::NewBudgetOf(entry.body)) {
    if (!budget_ids_.insert(core::StoredId(core::TenantNameOf(root_id), budget->id)).second) {
      return absl::AbortedError("the budget id is taken");
    }
  }
  if (ledger.entries.empty()) root_ids_.push_back(root_id);
  ledger.entries.push_back(entry);
  return absl::OkStatus();
}

inline absl::Status MemoryStore::Commit() {
  if (!in_transaction_) return absl::FailedPreconditionError("no transaction is open");
  in_transaction_ = false;
  return absl::OkStatus();
}

inline absl::StatusOr<std::vector<core::Entry>> MemoryStore::ReadEntries(const std::string& root_id,
                                                                         int64_t after_sequence,
                                                                         int64_t limit,
                                                                         int64_t max_bytes) {
  const auto ledger = ledgers_.find(root_id);
  if (ledger == ledgers_.end()) return std::vector<core::Entry>();
  const std::vector<core::Entry>& entries = ledger->second.entries;
  const int64_t size = static_cast<int64_t>(entries.size());
  const int64_t first = std::clamp<int64_t>(after_sequence, 0, size);
  int64_t last = first;
  for (int64_t bytes = 0; last < size && last - first < limit && bytes < max_bytes; ++last) {
    bytes += static_cast<int64_t>(entries[last].content.size());
  }
  return std::vector<core::Entry>(entries.begin() + first, entries.begin() + last);
}

inline absl::StatusOr<std::optional<core::Entry>> MemoryStore::FindCharge(
    const std::string& root_id, const core::ChargeKey& key) {
  const auto ledger = ledgers_.find(root_id);
  if (ledger == ledgers_.end()) return std::nullopt;
  const auto it =
      ledger->second.charge_sequences.find(Key(key.session_number, key.attempt, key.charge_id));
  if (it == ledger->second.charge_sequences.end()) return std::nullopt;
  return ledger->second.entries[it->second - 1];
}

inline absl::StatusOr<std::vector<core::Entry>> MemoryStore::ListCharges(const std::string& root_id,
                                                                         int64_t session_number,
                                                                         int64_t after_sequence,
                                                                         int64_t limit,
                                                                         int64_t max_bytes) {
  std::vector<core::Entry> result;
  const auto ledger = ledgers_.find(root_id);
  if (ledger == ledgers_.end()) return result;
  int64_t bytes = 0;
  for (const core::Entry& entry : ledger->second.entries) {
    if (static_cast<int64_t>(result.size()) >= limit || bytes >= max_bytes) break;
    const std::optional<core::ChargeKey> charge = core::ChargeKeyOf(entry.body);
    if (charge.has_value() && charge->session_number == session_number &&
        entry.sequence > after_sequence) {
      bytes += static_cast<int64_t>(entry.content.size());
      result.push_back(entry);
    }
  }
  return result;
}

}  // namespace epsledger::storage

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_MEMORY_STORE_H_
