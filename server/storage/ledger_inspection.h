#ifndef EPSLEDGER_SERVER_STORAGE_LEDGER_INSPECTION_H_
#define EPSLEDGER_SERVER_STORAGE_LEDGER_INSPECTION_H_

// The checks for every database of ledgers, row by row.

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/storage/export_file.h"

namespace epsledger::storage {

// The rows of one query, one after the other.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  // Goes to the next row. False after the last row, and after an error, which `status` returns.
  virtual bool Next() = 0;
  virtual int64_t Int(int column) const = 0;
  virtual std::string Bytes(int column) const = 0;
  virtual const absl::Status& status() const = 0;
};

// The rows of one ledger as they are stored.
struct StoredRows {
  RowCursor& entries;  // sequence, hash, content; by sequence
  RowCursor& charges;  // sequence, session number, attempt, charge id; by sequence
  RowCursor& budgets;  // budget id; by id
};

// Replays a ledger from an empty state, and checks that the rows of charges and budgets hold
// exactly what the entries say. `visit` gets every correct entry before the first fault.
absl::StatusOr<LedgerReport> InspectLedger(const std::string& root_id, const StoredRows& rows,
                                           absl::FunctionRef<void(const core::Entry&)> visit,
                                           core::PriceCheck prices = core::PriceCheck::kStored);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_LEDGER_INSPECTION_H_
