#include "server/storage/key_table.h"

#include <tuple>

#include "absl/hash/hash.h"
#include "server/storage/charge_block.h"

namespace epsledger::storage {

void KeyTable::Add(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence, Sum* sum) {
  const auto row = std::tie(ledger_id, key.session_number, key.attempt, key.charge_id, sequence);
  sum->low += absl::HashOf(1, row);
  sum->high += absl::HashOf(2, row);
}

void KeyTable::AddEntry(int64_t ledger_id, const core::Entry& entry) {
  const std::optional<core::ChargeKey> key = core::KeyOf(entry.body);
  if (key.has_value()) Add(ledger_id, *key, entry.sequence, &entries_[ledger_id]);
}

void KeyTable::AddRow(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence) {
  Add(ledger_id, key, sequence, &rows_[ledger_id]);
  if (last_.has_value() &&
      std::tie(ledger_id, key.session_number, key.attempt, key.charge_id) <=
          std::tie(last_ledger_id_, last_->session_number, last_->attempt, last_->charge_id)) {
    is_in_disorder_ = true;
    damaged_.insert({ledger_id, last_ledger_id_});
  }
  last_ledger_id_ = ledger_id;
  last_ = key;
}

std::vector<int64_t> KeyTable::DamagedLedgers() const {
  std::set<int64_t> damaged = damaged_;
  for (const auto* sums : {&entries_, &rows_}) {
    for (const auto& [ledger_id, sum] : *sums) {
      const auto entries = entries_.find(ledger_id);
      const auto rows = rows_.find(ledger_id);
      if (entries == entries_.end() || rows == rows_.end() || entries->second != rows->second) {
        damaged.insert(ledger_id);
      }
    }
  }
  return {damaged.begin(), damaged.end()};
}

std::vector<int64_t> KeyTable::Ledgers() const {
  std::set<int64_t> ledgers;
  for (const auto* sums : {&entries_, &rows_}) {
    for (const auto& [ledger_id, sum] : *sums) ledgers.insert(ledger_id);
  }
  return {ledgers.begin(), ledgers.end()};
}

void BlockTable::AddEntry(int64_t ledger_id, const core::Entry& entry) {
  const std::optional<core::ChargeKey> key = core::KeyOf(entry.body);
  if (!key.has_value()) return;
  const std::pair block(ledger_id, BlockOf(entry.sequence));
  if (block != block_) {
    block_ = block;
    sessions_.clear();
  }
  if (sessions_.insert(key->session_number).second) {
    ledgers_[ledger_id].entries += absl::HashOf(key->session_number, block);
  }
}

void BlockTable::AddRow(int64_t ledger_id, int64_t session_number, int64_t block) {
  ledgers_[ledger_id].rows += absl::HashOf(session_number, std::pair(ledger_id, block));
}

std::vector<int64_t> BlockTable::DamagedLedgers() const {
  std::vector<int64_t> damaged;
  for (const auto& [ledger_id, sums] : ledgers_) {
    if (sums.entries != sums.rows) damaged.push_back(ledger_id);
  }
  return damaged;
}

}  // namespace epsledger::storage
