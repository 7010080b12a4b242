#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_CONNECTION_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_CONNECTION_H_

// libpq with types: statements that are prepared at their first use, values in the binary format,
// and several statements in one round trip.

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

// SQL text of static storage duration; the parameters are cast in it ($1::bigint). Its address is
// its identity: every statement is prepared once in a connection.
struct PostgresStatement {
  const char* sql;
};

// The values of one statement, in its order.
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
  // The value of a text or bytea column. Valid as long as this object.
  std::string_view Bytes(int row, int column) const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// One session with the database. Not thread-safe.
//
// Errors: ABORTED for what a repetition of the transaction may cure (40001, 40P01) and for a value
// that is taken (class 23); DATA_LOSS for a damaged table (XX001, XX002); FAILED_PRECONDITION where
// tables are not what they should be, or not for this user (class 42); UNAVAILABLE for everything
// else, `lost()` telling whether the session has ended.
class PostgresConnection {
 public:
  // `conninfo` is libpq's: keywords or a URI, of one host or several. A password that is not empty
  // takes the place of any in it. A session that has not answered for as long as `patience`, as one
  // that waits for its standby, is given up. UNAVAILABLE: it may succeed later;
  // FAILED_PRECONDITION: the database answers, and does not take this role, password or name.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(const std::string& conninfo,
                                                                  const std::string& password,
                                                                  absl::Duration patience);

  // Runs the statements in their order and in one round trip; what follows one that fails is not
  // run. The rows of each, or the first error.
  absl::StatusOr<std::vector<PostgresRows>> Run(const std::vector<PostgresCall>& calls);

  // Statements without values, separated by semicolons: one transaction, if they do not begin one.
  absl::Status Execute(const std::string& sql);
  // The same, and the first value of the last of them as text; empty if it gives none.
  absl::StatusOr<std::string> ReadText(const std::string& sql);

  // The rows of a FETCH from a binary cursor.
  absl::StatusOr<PostgresRows> Fetch(const std::string& sql);

  // The session is over.
  bool lost() const { return PQstatus(connection_.get()) != CONNECTION_OK; }
  // Nobody on the way can read what passes: TLS, or the encryption of GSSAPI. Who answers was
  // verified only if sslmode said so.
  bool IsEncrypted() const;
  // The IP address of the server, of several hosts the one that was taken. Empty: a Unix socket.
  std::string Address() const;
  // What the server warned of since the last call. A commit that it warns of may be on its own disk
  // only ("canceling wait for synchronous replication").
  std::string TakeWarning();

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  PostgresConnection(PGconn* connection, absl::Duration patience)
      : connection_(connection), patience_(patience) {}
  using Clock = std::chrono::steady_clock;
  // When this session is given up if it does not answer.
  Clock::time_point Deadline() const;
  // Waits until PQgetResult does not. False at the deadline.
  bool AwaitResult(Clock::time_point deadline) const;
  static void KeepWarning(void* self, const PGresult* notice);
  bool Send(const PostgresCall& call, bool prepare);
  absl::Status Error() const;
  // The error of a session that cannot go on. Closes it.
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
