#include "server/storage/postgres/writer_rights.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "accounting/event/status_macros.h"
#include "server/storage/postgres/engine/engine.h"
#include "server/storage/postgres/incarnations.h"
#include "server/storage/postgres/schema.h"

namespace epsledger::storage {
namespace {

// $0 is the writer. Locking the row of the version takes UPDATE; sequences number the ledgers.
constexpr char kGrants[] =
    "BEGIN;"
    "GRANT SELECT, UPDATE ON epsledger TO $0;"
    "GRANT SELECT, INSERT, UPDATE ON ledgers TO $0;"
    "GRANT SELECT, INSERT ON budgets, entries, charges, charge_blocks, incarnations TO $0;"
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA $1 TO $0;"
    "COMMIT";

std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

absl::Status Grant(PostgresConnection& connection, const std::string& writer) {
  ASSIGN_OR_RETURN(const std::string schema, connection.ReadText("SELECT current_schema()"));
  absl::Status status = connection.Execute(
      absl::StrReplaceAll(kGrants, {{"$0", Quoted(writer)}, {"$1", Quoted(schema)}}));
  if (!status.ok()) connection.Execute("ROLLBACK").IgnoreError();
  return status;
}

}  // namespace

absl::Status PreparePostgres(const PostgresStore::Options& owner, const std::string& writer) {
  ASSIGN_OR_RETURN(const std::unique_ptr<PostgresConnection> connection,
                   PostgresStore::ConnectToRead(owner));
  ASSIGN_OR_RETURN(const PostgresEngine* const engine,
                   FindPostgresEngine(*connection, owner.untested_engine));
  ASSIGN_OR_RETURN(const std::string user, connection->ReadText("SELECT current_user"));
  if (user == writer) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "--writer: \"%s\" is the role of --postgres, which will own the tables; want another one",
        writer));
  }
  RETURN_IF_ERROR(connection->Execute(engine->session_settings));
  RETURN_IF_ERROR(MigratePostgresSchema(*connection, *engine));
  RETURN_IF_ERROR(MakeTableOfIncarnations(*connection, *engine));
  return Grant(*connection, writer);
}

absl::Status CheckWriterRights(PostgresConnection& connection) {
  ASSIGN_OR_RETURN(const bool newest, HasNewestPostgresSchema(connection));
  if (!newest) {
    return absl::FailedPreconditionError(
        "ledger database: has no tables of this version; on this engine the owner of the tables "
        "makes them: run `epsledgerd ledger prepare` as a role that the servers do not use");
  }
  for (const char* table : kLedgerTables) {
    if (std::string_view(table) == "ledgers") continue;  // whose heads move
    ASSIGN_OR_RETURN(const std::string can, connection.ReadText(absl::StrFormat(
                                                "SELECT has_table_privilege('%s', 'UPDATE') OR "
                                                "has_table_privilege('%s', 'DELETE')",
                                                table, table)));
    if (can != "f") {
      return absl::FailedPreconditionError(absl::StrFormat(
          "ledger database: this role can update or delete rows of the table %s, want one that can "
          "only append: not the owner of the tables, not an administrator, but the --writer of "
          "`epsledgerd ledger prepare`",
          table));
    }
  }
  return absl::OkStatus();
}

}  // namespace epsledger::storage
