#include "tests/postgres/engine_dialect.h"

#include <dlfcn.h>
#include <libpq-fe.h>

#include <mutex>
#include <optional>
#include <regex>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace epsledger {
namespace {

constexpr char kInstallation[] = R"sql(
CREATE SCHEMA dialect;
GRANT USAGE ON SCHEMA dialect TO PUBLIC;
CREATE TABLE dialect.settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO dialect.settings VALUES
  ('kv.raft_log.synchronization.unsafe.disabled', 'false'),
  ('isolation', 'read committed'),
  ('servers', '3');
CREATE TABLE dialect.zones (num_replicas INT NOT NULL);
INSERT INTO dialect.zones VALUES (3);
GRANT SELECT ON ALL TABLES IN SCHEMA dialect TO PUBLIC;
CREATE FUNCTION dialect.setting(wanted TEXT) RETURNS TEXT LANGUAGE sql
  AS $$ SELECT value FROM dialect.settings WHERE name = wanted $$;
CREATE FUNCTION dialect.refuse(code TEXT, why TEXT) RETURNS BOOLEAN LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = code, MESSAGE = why; END $$;
CREATE FUNCTION dialect.version() RETURNS TEXT LANGUAGE sql AS $$ SELECT '{version}' $$;
CREATE FUNCTION dialect.cluster_id() RETURNS UUID LANGUAGE sql
  AS $$ SELECT '6c1a5b0e-0000-4000-8000-000000000001'::uuid $$;
CREATE FUNCTION dialect.yb_servers() RETURNS TABLE (universe_uuid UUID) LANGUAGE sql
  AS $$ SELECT dialect.cluster_id() FROM generate_series(1, dialect.setting('servers')::int) $$;
CREATE FUNCTION dialect.yb_get_effective_transaction_isolation_level() RETURNS TEXT LANGUAGE sql
  AS $$ SELECT dialect.setting('isolation') $$;
)sql";

constexpr char kVersionOfCockroachdb[] =
    "CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/01 00:00:00, go1.23.7)";
constexpr char kVersionOfYugabytedb[] =
    "PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, "
    "64-bit";

struct Refusal {
  const char* words;
  const char* code;
};

// Of both.
constexpr Refusal kOfNeither[] = {
    {"LOCK TABLE", "0A000"},
    {"LISTEN", "0A000"},
    {"NOTIFY", "0A000"},
    {"pg_advisory", "0A000"},
    {"pg_control_system", "42883"},
    {"pg_logical_emit_message", "42883"},
};
constexpr Refusal kNotOfCockroachdb[] = {
    {"COLLATE \"C\"", "42704"},    {"BINARY CURSOR", "0A000"},       {"fsync", "42704"},
    {"full_page_writes", "42704"}, {"synchronous_standby", "42704"}, {"sequence / 64", "42883"},
};

std::string RefusalOf(const Refusal& refusal) {
  return absl::StrCat("SELECT dialect.refuse('", refusal.code, "', 'the dialect has no ",
                      absl::StrReplaceAll(refusal.words, {{"'", ""}}), "')");
}

// The sessions that have turned autocommit_before_ddl off.
class Sessions {
 public:
  void Forget(const PGconn* session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    off_.erase(session);
  }
  void TurnOff(const PGconn* session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    off_.insert(session);
  }
  bool IsOff(const PGconn* session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return off_.count(session) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<const PGconn*> off_;
};

Sessions& AllSessions() {
  static Sessions* const sessions = new Sessions;
  return *sessions;
}

std::optional<EngineDialect> DialectOf(const PGconn* session) {
  const char* const options = PQoptions(session);
  for (const EngineDialect dialect : {EngineDialect::kCockroachdb, EngineDialect::kYugabytedb}) {
    if (options != nullptr && absl::StrContains(options, NameOf(dialect))) return dialect;
  }
  return std::nullopt;
}

bool MakesTables(const std::string& sql) {
  return absl::StrContains(sql, "CREATE TABLE") || absl::StrContains(sql, "GRANT ") ||
         absl::StrContains(sql, "REVOKE ");
}

std::string InCockroachdb(const PGconn* session, std::string sql) {
  for (const Refusal& refusal : kNotOfCockroachdb) {
    if (absl::StrContains(sql, refusal.words)) return RefusalOf(refusal);
  }
  if (absl::StrContains(sql, "SET autocommit_before_ddl = off")) AllSessions().TurnOff(session);
  sql = absl::StrReplaceAll(sql, {{"autocommit_before_ddl", "dialect.autocommit_before_ddl"},
                                  {"enable_durable_locking", "dialect.enable_durable_locking"},
                                  {"enable_shared_locking", "dialect.enable_shared_locking"},
                                  {"crdb_internal.cluster_id", "dialect.cluster_id"}});
  static const std::regex kSetting(R"(\[SHOW CLUSTER SETTING ([a-z_.]+)\])");
  static const std::regex kZone(R"(\[SHOW ZONE CONFIGURATION FROM TABLE (\w+)\])");
  static const std::regex kOwnRights(R"(REVOKE [^;]* FROM CURRENT_USER)");
  sql = std::regex_replace(sql, kSetting, "(SELECT dialect.setting('$1')::boolean)");
  sql = std::regex_replace(sql, kZone,
                           "(SELECT '$1'::regclass, 'ALTER RANGE default CONFIGURE ZONE USING"
                           " num_replicas = ' || num_replicas || ', constraints = ''[]''' AS "
                           "raw_config_sql FROM dialect.zones) AS z");
  sql = std::regex_replace(sql, kOwnRights, "SELECT 1");
  const bool ends_transaction = MakesTables(sql) && !AllSessions().IsOff(session) &&
                                PQtransactionStatus(session) == PQTRANS_INTRANS;
  return ends_transaction ? "COMMIT; " + sql : sql;
}

std::string InYugabytedb(const PGconn* session, std::string sql) {
  static const std::regex kKey(R"(PRIMARY KEY \(([^)]*)\))");
  for (std::sregex_iterator key(sql.begin(), sql.end(), kKey); key != std::sregex_iterator();
       ++key) {
    for (const auto column : absl::StrSplit((*key)[1].str(), ',')) {
      if (!absl::StrContains(column, " ASC")) return RefusalOf({"key without ASC", "0A000"});
    }
  }
  sql = absl::StrReplaceAll(sql, {{" ASC", ""},
                                  {"yb_servers()", "dialect.yb_servers()"},
                                  {"yb_get_effective_transaction_isolation_level",
                                   "dialect.yb_get_effective_transaction_isolation_level"}});
  if (!MakesTables(sql) || PQtransactionStatus(session) != PQTRANS_INTRANS) return sql;
  return absl::StrReplaceAll(sql, {{"CREATE TABLE", "COMMIT; BEGIN; CREATE TABLE"}});
}

std::string Translated(const PGconn* session, const char* sql) {
  const std::optional<EngineDialect> dialect = DialectOf(session);
  if (!dialect.has_value()) return sql;
  for (const Refusal& refusal : kOfNeither) {
    if (absl::StrContains(sql, refusal.words)) return RefusalOf(refusal);
  }
  const std::string own =
      absl::StrReplaceAll(sql, {{"SELECT version()", "SELECT dialect.version()"}});
  return *dialect == EngineDialect::kCockroachdb ? InCockroachdb(session, own)
                                                 : InYugabytedb(session, own);
}

// The function of libpq that is hidden by the one of the same name below.
template <class Function>
Function Libpq(const char* name, Function) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

const char* NameOf(EngineDialect dialect) {
  return dialect == EngineDialect::kCockroachdb ? "cockroachdb" : "yugabytedb";
}

absl::Status InstallDialect(const PostgresCluster& cluster, const std::string& database,
                            EngineDialect dialect) {
  const char* const version =
      dialect == EngineDialect::kCockroachdb ? kVersionOfCockroachdb : kVersionOfYugabytedb;
  return cluster.Sql(database, absl::StrReplaceAll(kInstallation, {{"{version}", version}}))
      .status();
}

std::string DialectOptions(EngineDialect dialect) {
  return absl::StrCat(" options='-c dialect.engine=", NameOf(dialect),
                      " -c dialect.autocommit_before_ddl=on'");
}

}  // namespace epsledger

// The linker prefers these to libpq's, for everything in the program.
extern "C" {

PGconn* PQconnectdbParams(const char* const* keywords, const char* const* values,
                          int expand_dbname) {
  PGconn* const session =
      epsledger::Libpq("PQconnectdbParams", &PQconnectdbParams)(keywords, values, expand_dbname);
  epsledger::AllSessions().Forget(session);
  return session;
}

int PQsendQuery(PGconn* session, const char* sql) {
  return epsledger::Libpq("PQsendQuery", &PQsendQuery)(session,
                                                       epsledger::Translated(session, sql).c_str());
}

int PQsendPrepare(PGconn* session, const char* name, const char* sql, int count, const Oid* types) {
  return epsledger::Libpq("PQsendPrepare", &PQsendPrepare)(
      session, name, epsledger::Translated(session, sql).c_str(), count, types);
}

}  // extern "C"
