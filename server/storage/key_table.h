#ifndef EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_
#define EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/core/entry.h"

namespace epsledger::storage {

// Whether the table of charge keys says of each ledger what its entries say. A charge whose row was
// damaged or taken away would be answered with another's outcome, or charged twice.
//
// Entries and rows are added up, a 128-bit hash each, so that neither has to be kept: the sums of
// equal sets are equal, and those of different ones differ but for a chance of about 2^-128. Rows
// must also come in the order of their keys: a lookup of any ledger may go wrong at one that is out
// of order.
//
// Not thread-safe.
class KeyTable {
 public:
  // An entry of the ledger, if it takes a key.
  void AddEntry(int64_t ledger_id, const core::Entry& entry);
  // The next row of the table. REQUIRES: they are read in the order of the index.
  void AddRow(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence);

  // Something in a row of the ledger is not of its type.
  void AddDamage(int64_t ledger_id) { damaged_.insert(ledger_id); }

  // The ledgers for which the table differs from what was added here.
  std::vector<int64_t> DamagedLedgers() const;
  // All of which there was an entry with a key, or a row.
  std::vector<int64_t> Ledgers() const;
  // Whether some row was not in the order of the keys.
  bool IsInDisorder() const { return is_in_disorder_; }

 private:
  struct Sum {
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const Sum&) const = default;
  };
  static void Add(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence, Sum* sum);

  std::map<int64_t, Sum> entries_;  // by ledger
  std::map<int64_t, Sum> rows_;
  std::set<int64_t> damaged_;
  bool is_in_disorder_ = false;
  int64_t last_ledger_id_ = 0;
  std::optional<core::ChargeKey> last_;
};

// The same of the table that says in which blocks of entries the charges of a session are
// (charge_block.h). A charge whose block is not there is not listed.
class BlockTable {
 public:
  // REQUIRES: entries of one ledger come in order, one ledger after the other.
  void AddEntry(int64_t ledger_id, const core::Entry& entry);
  void AddRow(int64_t ledger_id, int64_t session_number, int64_t block);

  std::vector<int64_t> DamagedLedgers() const;

 private:
  struct Sums {
    uint64_t entries = 0;
    uint64_t rows = 0;
  };
  std::map<int64_t, Sums> ledgers_;
  std::pair<int64_t, int64_t> block_{};  // ledger and block of the last entry
  std::set<int64_t> sessions_;           // that have a charge in it
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_
