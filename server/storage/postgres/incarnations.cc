#include "server/storage/postgres/incarnations.h"

#include <openssl/rand.h>

#include <cstring>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/storage/postgres/schema.h"

namespace epsledger::storage {
namespace {

// Not part of a schema version, because older servers need not know this table. `place` identifies
// the database and the cluster at that time.
constexpr char kTable[] = R"sql(
CREATE TABLE{if missing} incarnations (
  number      BIGINT PRIMARY KEY,
  incarnation BYTEA NOT NULL UNIQUE CHECK (length(incarnation) = 16),
  begin_time  BIGINT NOT NULL,  -- seconds since 1970
  reason      TEXT NOT NULL,
  place       TEXT NOT NULL
);
)sql";
constexpr char kGiveUpRightsToIncarnations[] =
    "REVOKE UPDATE, DELETE, TRUNCATE ON incarnations FROM CURRENT_USER";
// Servers that begin the first incarnation together repeat it one after the other.
constexpr int kLockAttempts = 8;

constexpr PostgresStatement kReadIncarnations = {
    "SELECT incarnation, begin_time, reason FROM incarnations ORDER BY number"};

// Returns the empty string if the database does not show it, for example another product.
std::string PlaceOf(PostgresConnection& connection, const PostgresEngine& engine) {
  return connection.ReadText(engine.place).value_or("");
}

std::string RandomHex() {
  core::IncarnationId id;
  if (RAND_bytes(id.data(), static_cast<int>(id.size())) != 1) return "";
  return core::ToHex(id);
}

absl::StatusOr<bool> HasTable(PostgresConnection& connection) {
  ASSIGN_OR_RETURN(const std::string count,
                   connection.ReadText(
                       "SELECT count(*) FROM information_schema.tables"
                       " WHERE table_schema = current_schema() AND table_name = 'incarnations'"));
  return count != "0";
}

absl::Status MakeTableIfMissing(PostgresConnection& connection, const PostgresEngine& engine) {
  ASSIGN_OR_RETURN(const bool there, HasTable(connection));
  if (there) return absl::OkStatus();
  RETURN_IF_ERROR(connection.Execute(SpellSchema(engine, kTable)));
  return engine.owner_keeps_rights ? absl::OkStatus()
                                   : connection.Execute(kGiveUpRightsToIncarnations);
}

// REQUIRES: a transaction that holds the row of the table `epsledger`.
absl::Status BeginIfAnother(PostgresConnection& connection, const PostgresEngine& engine,
                            const std::string& place) {
  RETURN_IF_ERROR(MakeTableIfMissing(connection, engine));
  ASSIGN_OR_RETURN(const std::string last,
                   connection.ReadText("SELECT coalesce((SELECT place FROM incarnations ORDER BY "
                                       "number DESC LIMIT 1), 'none')"));
  const bool is_first = last == "none";
  if (!is_first && (last == place || place.empty() || last.empty())) return absl::OkStatus();
  const std::string id = RandomHex();
  if (id.empty()) return absl::UnavailableError("there are no random numbers");
  return connection.Execute(absl::StrFormat(
      "INSERT INTO incarnations (number, incarnation, begin_time, reason, place)"
      " SELECT coalesce(max(number), 0) + 1, '\\x%s'::bytea,"
      " extract(epoch FROM now())::bigint, '%s', '%s' FROM incarnations",
      id,
      is_first ? "first served"
               : "the database was restored or copied: it is another one than the one that was "
                 "served",
      place));
}

// Runs it in a transaction that holds the row of the table `epsledger`.
absl::Status UnderLock(PostgresConnection& connection, const PostgresEngine& engine,
                       absl::FunctionRef<absl::Status()> change) {
  absl::Status status;
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    status = connection.Execute("BEGIN; SELECT schema_version FROM epsledger FOR UPDATE");
    if (status.ok()) status = change();
    if (status.ok()) status = connection.Execute("COMMIT");
    if (status.ok()) break;
    connection.Execute("ROLLBACK").IgnoreError();
    if (!MayBeOfARace(connection, engine, status)) break;
  }
  return status;
}

}  // namespace

absl::StatusOr<std::vector<core::Incarnation>> KeepIncarnations(PostgresConnection& connection,
                                                                const PostgresEngine& engine) {
  const std::string place = PlaceOf(connection, engine);
  RETURN_IF_ERROR(
      UnderLock(connection, engine, [&] { return BeginIfAnother(connection, engine, place); }));
  return ReadIncarnations(connection);
}

absl::Status MakeTableOfIncarnations(PostgresConnection& connection, const PostgresEngine& engine) {
  return UnderLock(connection, engine, [&] { return MakeTableIfMissing(connection, engine); });
}

absl::StatusOr<std::vector<core::Incarnation>> ReadIncarnations(PostgresConnection& connection) {
  ASSIGN_OR_RETURN(const bool there, HasTable(connection));
  if (!there) return std::vector<core::Incarnation>();
  ASSIGN_OR_RETURN(const auto answer, connection.Run({{&kReadIncarnations}}));
  const PostgresRows& rows = answer.front();
  std::vector<core::Incarnation> incarnations;
  for (int row = 0; row < rows.count(); ++row) {
    const std::string_view id = rows.Bytes(row, 0);
    core::Incarnation& life = incarnations.emplace_back();
    if (id.size() != life.id.size()) {
      return absl::DataLossError("ledger database: the table of incarnations is damaged");
    }
    std::memcpy(life.id.data(), id.data(), id.size());
    life.begin_seconds = rows.Int(row, 1);
    life.reason = std::string(rows.Bytes(row, 2));
  }
  return incarnations;
}

}  // namespace epsledger::storage
