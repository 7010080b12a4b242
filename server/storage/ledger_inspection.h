#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_INSPECTION_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_INSPECTION_H_

// What every database of ledgers is held to, row by row.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// The rows of one ledger as they are stored, each kind in its order. A function that returns
// nothing has come to the end, or `status` says why not.
class StoredRows {
 public:
  struct EntryRow {
    int64_t sequence = 0;
    std::string hash;
    std::string content;
  };
  struct ChargeRow {
    int64_t sequence = 0;
    core::ChargeKey key;
  };

  virtual ~StoredRows() = default;
  // By sequence.
  virtual std::optional<EntryRow> NextEntry() = 0;
  // By sequence.
  virtual std::optional<ChargeRow> NextCharge() = 0;
  // By id.
  virtual std::optional<std::string> NextBudget() = 0;
  virtual absl::Status status() const = 0;
};

// Replays a ledger from empty: its entries, and that the rows of charges and budgets hold exactly
// what the entries say. `visit` gets every entry that is right, until the first fault.
absl::StatusOr<LedgerReport> InspectLedger(const std::string& root_id, StoredRows& rows,
                                           absl::FunctionRef<void(const core::Entry&)> visit);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_INSPECTION_H_
