#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_ENGINE_ENGINE_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_ENGINE_ENGINE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// The spelling of the tables' definition. It differs where the same words mean something else.
struct PostgresSchemaWords {
  // After a text column: it compares by bytes.
  const char* by_bytes;
  // After a column of a primary key that is read in its order.
  const char* ascending;
  // Empty, or " IF NOT EXISTS" if an interrupted transaction may leave some of its tables.
  const char* if_missing;
};

// A database that speaks PostgreSQL's protocol, and everything that the store does differently on
// it. Constants of static storage duration; the store asks for none of these by name.
struct PostgresEngine {
  const char* name;
  // False: the store was never run on it, only on PostgreSQL with some of its behavior switched on
  // (tests/postgres/engine_dialect.h). PostgresStore::Options::untested_engine accepts it.
  bool is_tested;
  // What the operator must take care of, because no client can check it. May be empty.
  const char* caution;

  // Statements at the beginning of every session.
  const char* session_settings;
  // OK if everything that the database acknowledges in this session survives a power loss and,
  // unless `without_standby`, the loss of one machine. FAILED_PRECONDITION names the setting, its
  // value and the required value. Settings are read, not proven: a disk may lie.
  absl::Status (*check_durability)(PostgresConnection& connection, bool without_standby);
  // The part of this check that can change during a session: 'yes' or 'no'. $1: 1 if no standby is
  // required.
  PostgresStatement still_durable;
  const char* still_durable_settings;  // which ones, for people
  // Returns when the standby has everything that this session has seen. Null if nothing is visible
  // before it is on all the machines that it must be on.
  const PostgresStatement* await_standby;
  // True if ABORTED from COMMIT proves that nothing is durable. Otherwise the outcome is unknown.
  bool is_aborted_commit_definite;

  // Reads the phase and the schema version in a transaction that writes.
  PostgresStatement held_phase;
  // Run after a new phase is written: returns when no transaction that read the old one is open.
  // Null if the write itself waits for them.
  const char* await_writers;

  PostgresSchemaWords schema_words;
  // True if the owner of a table keeps every right to it: the servers must not own the tables
  // (writer_rights.h).
  bool owner_keeps_rights;
  // Returns one text that names this database among all others, the same for every session.
  const char* place;
};

extern const PostgresEngine kPostgresql;
extern const PostgresEngine kCockroachdb;
extern const PostgresEngine kYugabytedb;

// Returns the engine whose SELECT version() this is. FAILED_PRECONDITION for an unknown one, or one
// that is too old: what was found, and what is known.
absl::StatusOr<const PostgresEngine*> PostgresEngineOf(std::string_view version);

// Asks the database. FAILED_PRECONDITION also for an engine that is not tested, unless
// `accept_untested`.
absl::StatusOr<const PostgresEngine*> FindPostgresEngine(PostgresConnection& connection,
                                                         bool accept_untested);

// Replaces the words between braces in the definition of a table.
std::string SpellSchema(const PostgresEngine& engine, std::string_view definition);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_ENGINE_ENGINE_H_
