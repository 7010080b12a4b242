#ifndef EPSLEDGER_TESTS_BENCHMARK_RAW_POSTGRES_ROWS_H_
#define EPSLEDGER_TESTS_BENCHMARK_RAW_POSTGRES_ROWS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/postgres/connection.h"

namespace epsledger {

// A bare loop over PostgreSQL with the servers' schema that writes the rows of charges as the
// servers send them: it locks the ledgers' rows, sends vectors of values, and commits. It has no
// hashes, no decisions, no look-ups and no rows of others to read, so that a whole transaction
// takes one round trip.
class RawPostgresRows {
 public:
  struct Shape {
    int ledgers = 1;
    // The number of sessions per ledger. They charge in turn, `run` charges each time.
    int sessions = 1;
    int run = 1;
    int content_bytes = 62;
  };

  // Makes the tables in an empty database, and one ledger for each of `names`.
  RawPostgresRows(const std::string& conninfo, const std::vector<std::string>& names);

  // Writes `count` charges in one durable transaction. With several ledgers each transaction
  // continues with the next ledger, `run` charges each.
  void WriteTransaction(int count, const Shape& shape);

  int64_t written() const { return written_; }

 private:
  struct Ledger {
    int64_t id = 0;
    int64_t sequence = 0;
  };

  std::unique_ptr<storage::PostgresConnection> connection_;
  std::vector<std::string> names_;
  std::vector<Ledger> ledgers_;
  int64_t written_ = 0;
  int64_t runs_ = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_BENCHMARK_RAW_POSTGRES_ROWS_H_
