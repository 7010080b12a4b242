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

// Checks that the table of charge keys agrees with the entries of each ledger. A charge whose row
// was damaged or removed would be answered with another's outcome, or charged twice.
//
// The table adds up a 128-bit hash of each entry and of each row, so that neither must be kept. The
// sums of equal sets are equal; the sums of different sets are equal only with a probability of
// about 2^-128. Rows must also come in the order of their keys: a row out of order can make a
// lookup of any ledger go wrong.
//
// Not thread-safe.
class KeyTable {
 public:
  // Adds an entry of the ledger if it takes a key.
  void AddEntry(int64_t ledger_id, const core::Entry& entry);
  // Adds the next row of the table. REQUIRES: rows are read in the order of the index.
  void AddRow(int64_t ledger_id, const core::ChargeKey& key, int64_t sequence);

  // Returns the ledgers for which the sums over entries and rows differ, or with rows that are out
  // of order.
  std::vector<int64_t> DamagedLedgers() const;
  // Returns all ledgers that had an entry with a key, or a row.
  std::vector<int64_t> Ledgers() const;
  // True if some row was not in the order of the keys.
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

// The same check for the table that records which blocks of entries hold charges of a session
// (charge_block.h). A charge whose block is missing is not listed.
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
  std::set<int64_t> sessions_;           // with a charge in `block_`
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_KEY_TABLE_H_
