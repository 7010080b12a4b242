#ifndef EPSLEDGER_SERVER_STORAGE_MEMORY_STORE_H_
#define EPSLEDGER_SERVER_STORAGE_MEMORY_STORE_H_

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "server/storage/ledger_store.h"

namespace epsledger::storage {

// A store that forgets everything with its process. For tests.
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
                                                       int64_t after_sequence,
                                                       int64_t limit) override;

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

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_MEMORY_STORE_H_
