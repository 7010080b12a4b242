#ifndef EPSLEDGER_TESTS_POSTGRES_ENGINE_DIALECT_H_
#define EPSLEDGER_TESTS_POSTGRES_ENGINE_DIALECT_H_

#include <string>

#include "absl/status/status.h"
#include "tests/postgres/postgres_cluster.h"

namespace epsledger {

// The engines that the store knows and that are not here to be run. A session in a dialect is one
// with a real PostgreSQL, through a layer in front of libpq that answers, refuses and forgets as
// the engine is documented to:
//
// | CockroachDB | YugabyteDB | |
// |---|---|---|
// | yes | yes | its own version(), and the functions and settings of its own that the store asks |
// | yes | yes | no LOCK TABLE, LISTEN, NOTIFY, advisory locks, pg_control_system() |
// | yes | | no COLLATE "C", BINARY CURSOR, no settings like fsync; a / of integers is no integer |
// | yes | | the owner of a table keeps its rights, whatever is revoked |
// | yes | | a transaction ends before it makes a table, unless autocommit_before_ddl is off |
// | | yes | a table is made in a transaction of its own; a key of a table must say ASC |
//
// It says nothing about what cannot be imitated: replication, the clock and the isolation of the
// engine, its planner, its own errors. SERIALIZABLE is that of PostgreSQL, which aborts more.
enum class EngineDialect { kCockroachdb, kYugabytedb };

const char* NameOf(EngineDialect dialect);

// Makes what the layer needs in a database without tables. Its tables `dialect.settings` and
// `dialect.zones` may be changed afterwards to what a test wants to be found.
absl::Status InstallDialect(const PostgresCluster& cluster, const std::string& database,
                            EngineDialect dialect);

// What a connection string must end with for its session to be in the dialect.
std::string DialectOptions(EngineDialect dialect);

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_POSTGRES_ENGINE_DIALECT_H_
