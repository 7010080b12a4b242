#include "server/storage/postgres/pending_rows.h"

#include <optional>
#include <string_view>
#include <utility>

#include "server/core/tenant.h"
#include "server/storage/postgres/statements.h"

namespace epsledger::storage {

StoredChargeKey KeyIn(int64_t ledger_id, const core::ChargeKey& key) {
  return {ledger_id, key.session_number, key.attempt, key.charge_id};
}

absl::Status PendingRows::Add(const std::string& root_id, int64_t ledger_id,
                              const core::Entry& entry) {
  if (const std::optional<core::ChargeKey> key = core::KeyOf(entry.body)) {
    if (!charges_.emplace(KeyIn(ledger_id, *key), entries_.size()).second) {
      return absl::AbortedError("ledger database: the charge key is taken");
    }
    blocks_.emplace(ledger_id, key->session_number, BlockOf(entry.sequence));
  }
  if (const core::BudgetSpec* budget = core::NewBudgetOf(entry.body)) {
    std::string stored_id = core::StoredId(core::TenantNameOf(root_id), budget->id);
    if (!budgets_.emplace(std::move(stored_id), ledger_id).second) {
      return absl::AbortedError("ledger database: the budget id is taken");
    }
  }
  entries_.push_back({ledger_id, entry});
  return absl::OkStatus();
}

const core::Entry* PendingRows::FindCharge(const StoredChargeKey& key) const {
  const auto it = charges_.find(key);
  return it == charges_.end() ? nullptr : &entries_[it->second].entry;
}

void PendingRows::Clear() {
  entries_.clear();
  charges_.clear();
  blocks_.clear();
  budgets_.clear();
}

std::vector<PostgresCall> PendingRows::Inserts() const {
  std::vector<PostgresCall> calls;
  if (!entries_.empty()) {
    std::vector<int64_t> ledger_ids, sequences;
    std::vector<std::string_view> hashes, contents;
    for (const PendingEntry& pending : entries_) {
      ledger_ids.push_back(pending.ledger_id);
      sequences.push_back(pending.entry.sequence);
      hashes.push_back(BytesOf(pending.entry.hash));
      contents.push_back(pending.entry.content);
    }
    calls.push_back({&kInsertEntries, PostgresValues()
                                          .IntArray(ledger_ids)
                                          .IntArray(sequences)
                                          .ByteArray(hashes)
                                          .ByteArray(contents)});
  }
  if (!charges_.empty()) {
    std::vector<int64_t> ledger_ids, sessions, attempts, sequences;
    std::vector<std::string_view> charge_ids;
    for (const auto& [key, index] : charges_) {
      ledger_ids.push_back(std::get<0>(key));
      sessions.push_back(std::get<1>(key));
      attempts.push_back(std::get<2>(key));
      charge_ids.push_back(std::get<3>(key));
      sequences.push_back(entries_[index].entry.sequence);
    }
    calls.push_back({&kInsertCharges, PostgresValues()
                                          .IntArray(ledger_ids)
                                          .IntArray(sessions)
                                          .IntArray(attempts)
                                          .TextArray(charge_ids)
                                          .IntArray(sequences)});
    std::vector<int64_t> block_ledgers, block_sessions, blocks;
    for (const auto& [ledger_id, session, block] : blocks_) {
      block_ledgers.push_back(ledger_id);
      block_sessions.push_back(session);
      blocks.push_back(block);
    }
    calls.push_back(
        {&kInsertBlocks,
         PostgresValues().IntArray(block_ledgers).IntArray(block_sessions).IntArray(blocks)});
  }
  if (!budgets_.empty()) {
    std::vector<std::string_view> budget_ids;
    std::vector<int64_t> ledger_ids;
    for (const auto& [budget_id, ledger_id] : budgets_) {
      budget_ids.push_back(budget_id);
      ledger_ids.push_back(ledger_id);
    }
    calls.push_back({&kInsertBudgets, PostgresValues().TextArray(budget_ids).IntArray(ledger_ids)});
  }
  return calls;
}

}  // namespace epsledger::storage
