#ifndef EPSLEDGER_TESTS_BENCHMARK_RAW_ROWS_H_
#define EPSLEDGER_TESTS_BENCHMARK_RAW_ROWS_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

namespace epsledger {

// A bare SQLite loop with the server's schema and settings that writes the rows of charges, as the
// baseline for durable charges. It has no hashes, no decisions and no look-ups.
class RawRows {
 public:
  // Creates `path`, and replaces an existing file.
  explicit RawRows(const std::string& path);

  // Writes `count` charges in one durable transaction.
  void WriteTransaction(int64_t count);

  int64_t written() const { return written_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Statement Prepare(const char* sql);

  std::unique_ptr<sqlite3, Close> database_;
  Statement begin_;
  Statement commit_;
  Statement insert_entry_;
  Statement insert_charge_;
  Statement insert_block_;
  int64_t written_ = 0;
};

// Reads every entry of the ledger file at `path` in order, as opening the file does, and discards
// it. Returns the number of entries.
int64_t ScanEntries(const std::string& path);

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_BENCHMARK_RAW_ROWS_H_
