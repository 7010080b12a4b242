#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_CONNECTION_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_CONNECTION_H_

// A typed layer over libpq: statements that are prepared at their first use, values in the binary
// format, and several statements in one round trip.

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace epsledger::storage {

// SQL text of static storage duration that casts its parameters ($1::bigint). The address of the
// object is its identity: a connection prepares every statement once.
struct PostgresStatement {
  const char* sql;
};

// The values of one statement, in the order of its parameters.
class PostgresValues {
 public:
  PostgresValues& Int(int64_t value);
  // bytea, or text.
  PostgresValues& Bytes(std::string_view value);
  PostgresValues& IntArray(const std::vector<int64_t>& values);
  PostgresValues& ByteArray(const std::vector<std::string_view>& values);  // bytea[]
  PostgresValues& TextArray(const std::vector<std::string_view>& values);  // text[]

  const std::vector<std::string>& encoded() const { return encoded_; }

 private:
  PostgresValues& Array(const std::vector<std::string_view>& values, uint32_t type);

  std::vector<std::string> encoded_;
};

struct PostgresCall {
  const PostgresStatement* statement;
  PostgresValues values = {};
};

// Rows that a statement returned.
class PostgresRows {
 public:
  explicit PostgresRows(PGresult* result) : result_(result) {}

  int count() const { return PQntuples(result_.get()); }
  // REQUIRES: a bigint column.
  int64_t Int(int row, int column) const;
  // Returns the value of a text or bytea column. Valid during the life of this object.
  std::string_view Bytes(int row, int column) const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// One session with the database. Not thread-safe.
//
// Errors: ABORTED if a repetition of the transaction may succeed (40001, 40P01), and for a value
// that is taken (class 23); DATA_LOSS for a damaged table (XX001, XX002); FAILED_PRECONDITION if
// tables differ from what they should be, or are not accessible to this user (class 42);
// UNAVAILABLE for everything else. `lost()` tells whether the session has ended.
class PostgresConnection {
 public:
  // `conninfo` has libpq's format: keywords or a URI, with one host or several. A nonempty
  // `password` replaces any in `conninfo`. A session that has not answered for `patience`, for
  // example because it waits for its standby, is given up. UNAVAILABLE: a later call may succeed;
  // FAILED_PRECONDITION: the database answers, but does not accept this role, password or name.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(const std::string& conninfo,
                                                                  const std::string& password,
                                                                  absl::Duration patience);

  // Runs the statements in order and in one round trip; statements after a failed one are not run.
  // Returns the rows of each, or the first error.
  absl::StatusOr<std::vector<PostgresRows>> Run(const std::vector<PostgresCall>& calls);

  // Runs statements without values, separated by semicolons: as one transaction, unless they begin
  // one.
  absl::Status Execute(const std::string& sql);
  // As Execute; returns the first value of the last statement as text, empty if it gives none.
  absl::StatusOr<std::string> ReadText(const std::string& sql);

  // True if the session has ended.
  bool lost() const { return PQstatus(connection_.get()) != CONNECTION_OK; }
  // True if nobody on the network can read the traffic: TLS, or the encryption of GSSAPI. The
  // identity of the server was verified only if sslmode requires that.
  bool IsEncrypted() const;
  // Returns the IP address of the connected server. Empty for a Unix socket.
  std::string Address() const;
  // Returns the server's warnings since the last call. A commit with a warning may be on the
  // server's own disk only ("canceling wait for synchronous replication").
  std::string TakeWarning();

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  PostgresConnection(PGconn* connection, absl::Duration patience)
      : connection_(connection), patience_(patience) {}
  using Clock = std::chrono::steady_clock;
  // Returns the time when this session is given up if it does not answer.
  Clock::time_point Deadline() const;
  // Waits until PQgetResult does not block. Returns false at the deadline.
  bool AwaitResult(Clock::time_point deadline) const;
  static void KeepWarning(void* self, const PGresult* notice);
  bool Send(const PostgresCall& call, bool prepare);
  // Returns the rows of the last statement, as text.
  absl::StatusOr<PostgresRows> RunText(const std::string& sql);
  absl::Status Error() const;
  // Closes a session that cannot continue and returns its error.
  absl::Status Broken();
  absl::Status Late();
  static absl::Status Error(const PGresult* result);

  std::unique_ptr<PGconn, Finish> connection_;
  const absl::Duration patience_;
  std::set<const PostgresStatement*> prepared_;
  std::string warning_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_CONNECTION_H_
