#ifndef EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_
#define EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/core/entry.h"

namespace epsledger::storage {

// Whether the table of charge keys says of each ledger what its entries say. A charge whose row was
// damaged or taken away would be answered with another's outcome, or charged twice.
//
// Entries and rows are added up, a 128-bit hash each, so that neither has to be kept: the sums of
// equal sets are equal, and those of different ones differ but for a chance of about 2^-128. Rows
// must also come in the order of their keys: a lookup does not find one that is out of order.
//
// Not thread-safe.
class KeyTable {
 public:
  // An entry of the ledger, if it takes a key.
  void AddEntry(int64_t ledger_id, const core::Entry& entry);
  // The next row of the table. REQUIRES: they are read in the order of the index.
  void AddRow(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence);

  // Of all that was added: the ledgers of which the table says something else.
  std::vector<int64_t> DamagedLedgers() const;

 private:
  struct Sum {
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const Sum&) const = default;
  };
  static void Add(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence, Sum* sum);

  std::map<int64_t, Sum> entries_;  // by ledger
  std::map<int64_t, Sum> rows_;
  std::set<int64_t> out_of_order_;
  int64_t last_ledger_id_ = 0;
  std::optional<core::ChargeKey> last_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_
