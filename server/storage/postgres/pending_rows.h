#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_PENDING_ROWS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_PENDING_ROWS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "server/core/entry.h"
#include "server/storage/charge_block.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

inline std::string_view BytesOf(const core::Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// The stored key of a charge: ledger, session, attempt, charge id.
using StoredChargeKey = std::tuple<int64_t, int64_t, int64_t, std::string>;
StoredChargeKey KeyIn(int64_t ledger_id, const core::ChargeKey& key);

// The rows that a transaction will store: entries, and the index rows that locate things in them.
class PendingRows {
 public:
  // ABORTED if the key or the budget of the entry is pending already.
  absl::Status Add(const std::string& root_id, int64_t ledger_id, const core::Entry& entry);

  size_t size() const { return entries_.size(); }
  // Returns the entry that takes the key, or nullptr.
  const core::Entry* FindCharge(const StoredChargeKey& key) const;
  // Returns the statements that store all rows. Valid until this object changes.
  std::vector<PostgresCall> Inserts() const;
  void Clear();

 private:
  struct PendingEntry {
    int64_t ledger_id;
    core::Entry entry;
  };

  std::vector<PendingEntry> entries_;
  std::map<StoredChargeKey, size_t> charges_;               // to the index of the entry
  std::set<std::tuple<int64_t, int64_t, int64_t>> blocks_;  // ledger, session, block
  std::map<std::string, int64_t> budgets_;                  // stored id, to its ledger
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_PENDING_ROWS_H_
