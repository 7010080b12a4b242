#include "server/storage/postgres/connection.h"

#include <sys/poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::storage {
namespace {

// Types of PostgreSQL's catalog, which never change.
constexpr uint32_t kInt8Type = 20;
constexpr uint32_t kByteaType = 17;
constexpr uint32_t kTextType = 25;

constexpr int kBinary = 1;

void PutUint32(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

std::string EncodeInt(int64_t value) {
  std::string bytes;
  const auto bits = static_cast<uint64_t>(value);
  PutUint32(static_cast<uint32_t>(bits >> 32), &bytes);
  PutUint32(static_cast<uint32_t>(bits), &bytes);
  return bytes;
}

// The header of an array: dimensions, whether it has NULLs, type, length, index of the first
// element.
std::string ArrayHead(size_t length, uint32_t type) {
  std::string bytes;
  PutUint32(length == 0 ? 0 : 1, &bytes);
  PutUint32(0, &bytes);
  PutUint32(type, &bytes);
  if (length == 0) return bytes;
  PutUint32(static_cast<uint32_t>(length), &bytes);
  PutUint32(1, &bytes);
  return bytes;
}

std::string Name(const PostgresStatement* statement) {
  return absl::StrCat("s", reinterpret_cast<uintptr_t>(statement));
}

struct Free {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

}  // namespace

PostgresValues& PostgresValues::Int(int64_t value) {
  encoded_.push_back(EncodeInt(value));
  return *this;
}

PostgresValues& PostgresValues::Bytes(std::string_view value) {
  encoded_.emplace_back(value);
  return *this;
}

PostgresValues& PostgresValues::IntArray(const std::vector<int64_t>& values) {
  std::string bytes = ArrayHead(values.size(), kInt8Type);
  for (const int64_t value : values) {
    PutUint32(sizeof(value), &bytes);
    bytes += EncodeInt(value);
  }
  encoded_.push_back(std::move(bytes));
  return *this;
}

PostgresValues& PostgresValues::ByteArray(const std::vector<std::string_view>& values) {
  return Array(values, kByteaType);
}

PostgresValues& PostgresValues::TextArray(const std::vector<std::string_view>& values) {
  return Array(values, kTextType);
}

PostgresValues& PostgresValues::Array(const std::vector<std::string_view>& values, uint32_t type) {
  std::string bytes = ArrayHead(values.size(), type);
  for (const std::string_view value : values) {
    PutUint32(static_cast<uint32_t>(value.size()), &bytes);
    bytes += value;
  }
  encoded_.push_back(std::move(bytes));
  return *this;
}

int64_t PostgresRows::Int(int row, int column) const {
  uint64_t bits = 0;
  for (const char byte : Bytes(row, column)) bits = bits << 8 | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(bits);
}

std::string_view PostgresRows::Bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<size_t>(PQgetlength(result_.get(), row, column))};
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(
    const std::string& conninfo, const std::string& password, absl::Duration patience) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, Free> given(PQconninfoParse(conninfo.c_str(), &message));
  if (given == nullptr) {
    absl::Status status = absl::InvalidArgumentError(absl::StrCat(
        "--postgres: ", absl::StripAsciiWhitespace(message == nullptr ? "" : message)));
    PQfreemem(message);
    return status;
  }
  // These options detect a lost server within seconds, and select the host that accepts writes.
  // Options in `conninfo` take precedence.
  std::vector<std::pair<std::string, std::string>> options = {
      {"connect_timeout", "5"},          {"keepalives_idle", "5"},
      {"keepalives_interval", "2"},      {"keepalives_count", "3"},
      {"tcp_user_timeout", "15000"},     {"target_session_attrs", "read-write"},
      {"application_name", "epsledgerd"}};
  for (const PQconninfoOption* option = given.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) options.emplace_back(option->keyword, option->val);
  }
  if (!password.empty()) options.emplace_back("password", password);
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : options) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectdbParams(keywords.data(), values.data(), 0), patience));
  if (connection->lost()) {
    const absl::Status status = connection->Error();
    // A database that answers and rejects this role or name will not accept it later.
    const absl::string_view said = status.message();
    const bool is_definite = absl::StrContains(said, "FATAL:") &&
                             !absl::StrContains(said, "too many clients") &&
                             PQpingParams(keywords.data(), values.data(), 0) == PQPING_OK;
    return is_definite ? absl::FailedPreconditionError(said) : status;
  }
  PQsetNoticeReceiver(connection->connection_.get(), KeepWarning, connection.get());
  return connection;
}

void PostgresConnection::KeepWarning(void* self, const PGresult* notice) {
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == nullptr || std::strcmp(severity, "WARNING") != 0) return;
  const char* message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  static_cast<PostgresConnection*>(self)->warning_ = message == nullptr ? "a warning" : message;
}

bool PostgresConnection::IsEncrypted() const {
  return PQsslInUse(connection_.get()) == 1 || PQgssEncInUse(connection_.get()) == 1;
}

std::string PostgresConnection::Address() const {
  const char* const address = PQhostaddr(connection_.get());
  return address == nullptr ? "" : address;
}

std::string PostgresConnection::TakeWarning() { return std::exchange(warning_, {}); }

absl::Status PostgresConnection::Error() const {
  return absl::UnavailableError(absl::StrCat(
      "ledger database: ", absl::StripAsciiWhitespace(PQerrorMessage(connection_.get()))));
}

absl::Status PostgresConnection::Error(const PGresult* result) {
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string code = field == nullptr ? "" : field;
  const std::string message =
      absl::StrCat("ledger database: ", absl::StripAsciiWhitespace(PQresultErrorMessage(result)),
                   code.empty() ? "" : absl::StrCat(" (", code, ")"));
  // serialization_failure, deadlock_detected. CockroachDB returns the first for any transaction
  // that must be repeated.
  if (code == "40001" || code == "40P01") return absl::AbortedError(message);
  if (code.starts_with("23")) return absl::AbortedError(message);
  if (code == "55P03") return absl::DeadlineExceededError(message);  // lock_not_available
  if (code == "XX001" || code == "XX002") return absl::DataLossError(message);
  if (code.starts_with("42")) {
    return absl::FailedPreconditionError(
        message + ": the tables are those of another program, or not for this user");
  }
  return absl::UnavailableError(message);
}

bool PostgresConnection::Send(const PostgresCall& call, bool prepare) {
  const std::string name = Name(call.statement);
  PGconn* const connection = connection_.get();
  if (prepare && PQsendPrepare(connection, name.c_str(), call.statement->sql, 0, nullptr) != 1) {
    return false;
  }
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
  for (const std::string& value : call.values.encoded()) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
    formats.push_back(kBinary);
  }
  return PQsendQueryPrepared(connection, name.c_str(), static_cast<int>(values.size()),
                             values.data(), lengths.data(), formats.data(), kBinary) == 1;
}

absl::Status PostgresConnection::Broken() {
  absl::Status status = Error();
  connection_ = nullptr;
  return status;
}

absl::Status PostgresConnection::Late() {
  connection_ = nullptr;
  return absl::UnavailableError(
      absl::StrCat("ledger database: has not answered for ", absl::FormatDuration(patience_),
                   "; a synchronous standby that is away holds up every commit"));
}

PostgresConnection::Clock::time_point PostgresConnection::Deadline() const {
  return patience_ == absl::InfiniteDuration()
             ? Clock::time_point::max()
             : Clock::now() + absl::ToChronoMilliseconds(patience_);
}

bool PostgresConnection::AwaitResult(Clock::time_point deadline) const {
  PGconn* const connection = connection_.get();
  while (PQisBusy(connection) == 1) {
    const int64_t left = absl::ToInt64Milliseconds(absl::FromChrono(deadline - Clock::now()));
    pollfd readable = {.fd = PQsocket(connection), .events = POLLIN, .revents = 0};
    const int ready = poll(&readable, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    if (ready == 0 && left <= 0) return false;
    // If the session has ended, PQgetResult reports it.
    if (ready > 0 && PQconsumeInput(connection) != 1) return true;
  }
  return true;
}

absl::StatusOr<std::vector<PostgresRows>> PostgresConnection::Run(
    const std::vector<PostgresCall>& calls) {
  PGconn* const connection = connection_.get();
  // Blocking sends are safe: these statements return little data while they are being sent.
  if (PQenterPipelineMode(connection) != 1) return Broken();
  // The kind of each expected result: a prepared statement, or the rows of a call.
  std::vector<const PostgresStatement*> preparing;
  std::vector<const PostgresStatement*> expected;  // nullptr: rows
  for (const PostgresCall& call : calls) {
    bool prepare = prepared_.count(call.statement) == 0;
    for (const PostgresStatement* statement : preparing) prepare &= statement != call.statement;
    if (!Send(call, prepare)) return Broken();
    if (prepare) {
      preparing.push_back(call.statement);
      expected.push_back(call.statement);
    }
    expected.push_back(nullptr);
  }
  if (PQpipelineSync(connection) != 1) return Broken();
  const Clock::time_point deadline = Deadline();
  absl::Status status;
  std::vector<PostgresRows> rows;
  for (const PostgresStatement* statement : expected) {
    if (!AwaitResult(deadline)) return Late();
    PGresult* result = PQgetResult(connection);
    if (result == nullptr) return Broken();
    const ExecStatusType kind = PQresultStatus(result);
    const bool done = kind == PGRES_COMMAND_OK || kind == PGRES_TUPLES_OK;
    if (!done && kind != PGRES_PIPELINE_ABORTED) status.Update(Error(result));
    if (done && statement != nullptr) prepared_.insert(statement);
    PostgresRows kept(result);
    if (done && statement == nullptr) rows.push_back(std::move(kept));
    if (lost()) return Broken();
    PQclear(PQgetResult(connection));  // nullptr ends the results of a statement
  }
  if (!AwaitResult(deadline)) return Late();
  PostgresRows sync(PQgetResult(connection));  // PGRES_PIPELINE_SYNC
  if (lost()) return Broken();
  if (PQexitPipelineMode(connection) != 1) return Broken();
  if (!status.ok()) return status;
  return rows;
}

absl::Status PostgresConnection::Execute(const std::string& sql) { return ReadText(sql).status(); }

absl::StatusOr<std::string> PostgresConnection::ReadText(const std::string& sql) {
  ASSIGN_OR_RETURN(const PostgresRows rows, RunText(sql));
  return rows.count() == 0 ? std::string() : std::string(rows.Bytes(0, 0));
}

absl::StatusOr<PostgresRows> PostgresConnection::RunText(const std::string& sql) {
  PGconn* const connection = connection_.get();
  if (PQsendQuery(connection, sql.c_str()) != 1) return Error();
  const Clock::time_point deadline = Deadline();
  absl::StatusOr<PostgresRows> last = PostgresRows(nullptr);
  while (true) {
    if (!AwaitResult(deadline)) return Late();
    PGresult* result = PQgetResult(connection);
    if (result == nullptr) return last;
    PostgresRows rows(result);
    const ExecStatusType kind = PQresultStatus(result);
    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK) {
      last = Error(result);
    } else if (last.ok()) {
      last = std::move(rows);
    }
  }
}

}  // namespace epsledger::storage
