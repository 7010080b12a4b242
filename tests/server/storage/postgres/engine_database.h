#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_ENGINE_DATABASE_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_ENGINE_DATABASE_H_

#include "gtest/gtest.h"

#include <memory>
#include <string>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/postgres/postgres_store.h"
#include "server/storage/postgres/writer_rights.h"
#include "tests/postgres/engine_dialect.h"
#include "tests/server/storage/postgres/postgres_database.h"

namespace epsledger::storage {

// A database for servers that take it for another engine. Where the owner of tables keeps its
// rights, one role has made the tables, and another is the servers'.
class EngineDatabase {
 public:
  explicit EngineDatabase(EngineDialect dialect) : dialect_(dialect) {
    const std::string& name = database_.name();
    EXPECT_TRUE(InstallDialect(database_.cluster(), name, dialect).ok());
    database_.Sql(absl::StrCat("CREATE ROLE ", name, "_owner LOGIN; CREATE ROLE ", name,
                               "_writer LOGIN; ALTER DATABASE ", name, " OWNER TO ", name,
                               "_owner"));
    if (dialect_ != EngineDialect::kCockroachdb) return;
    const absl::Status prepared = PreparePostgres(owner(), name + "_writer");
    EXPECT_TRUE(prepared.ok()) << prepared;
  }

  const PostgresDatabase& database() const { return database_; }
  PostgresStore::Options owner() const { return OptionsOf("_owner"); }
  // Of the servers.
  PostgresStore::Options options() const {
    return OptionsOf(dialect_ == EngineDialect::kCockroachdb ? "_writer" : "_owner");
  }
  std::unique_ptr<PostgresStore> Store() const {
    auto store = PostgresStore::Open(options());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::unique_ptr<GroupCommitLedger> Server() const {
    auto server = GroupCommitLedger::Open(Store(), {});
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }

 private:
  PostgresStore::Options OptionsOf(const std::string& role) const {
    PostgresStore::Options options = database_.options();
    options.conninfo += absl::StrCat(" user=", database_.name(), role, DialectOptions(dialect_));
    options.without_standby = false;
    options.untested_engine = true;
    return options;
  }

  const EngineDialect dialect_;
  const PostgresDatabase database_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_ENGINE_DATABASE_H_
