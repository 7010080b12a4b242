#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_STATEMENTS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_STATEMENTS_H_

// The SQL statements of PostgresStore that every engine shares; engine/engine.h has the others.

#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// The database ends the session of a server that hangs in a transaction, so that the others do not
// wait forever.
inline constexpr char kSessionSettings[] =
    "SET default_transaction_isolation = 'read committed';"
    "SET client_min_messages = 'warning';"
    "SET idle_in_transaction_session_timeout = '15s';"
    "SET lock_timeout = '10s'";
// A serving server waits at most this long at a time for ledgers that others hold
// (GroupCommitLedger::Options::hold_patience).
inline constexpr char kServingSettings[] = "SET lock_timeout = '200ms'";

inline constexpr PostgresStatement kBegin = {"BEGIN"};
inline constexpr PostgresStatement kBeginSnapshot = {
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"};
inline constexpr PostgresStatement kCommit = {"COMMIT"};
inline constexpr PostgresStatement kPhase = {"SELECT phase, schema_version FROM epsledger"};
inline constexpr PostgresStatement kReadAll = {
    "SELECT coalesce(l.root_budget, ''), e.ledger_id, e.hash, e.content, e.sequence"
    " FROM entries e LEFT JOIN ledgers l ON l.ledger_id = e.ledger_id"
    " WHERE (e.ledger_id, e.sequence) > ($1::bigint, $2::bigint)"
    " ORDER BY e.ledger_id, e.sequence LIMIT $3::bigint"};
inline constexpr PostgresStatement kReadKeys = {
    "SELECT ledger_id, session_number, attempt, charge_id, sequence FROM charges"
    " WHERE (ledger_id, session_number, attempt, charge_id)"
    "  > ($1::bigint, $2::bigint, $3::bigint, $4::text)"
    " ORDER BY ledger_id, session_number, attempt, charge_id LIMIT $5::bigint"};
inline constexpr PostgresStatement kAllHeads = {
    "SELECT root_budget, ledger_id, sequence, hash FROM ledgers WHERE sequence > 0"};
// Locks in the order of ledger_id, so that no two transactions wait for each other.
inline constexpr PostgresStatement kLockHeads = {
    "SELECT root_budget, ledger_id, sequence, hash FROM ledgers"
    " WHERE root_budget = ANY ($1::text[]) ORDER BY ledger_id FOR UPDATE"};
// For one ledger, the common case: PostgreSQL plans it once, but plans a statement with an array
// every time.
inline constexpr PostgresStatement kLockHead = {
    "SELECT root_budget, ledger_id, sequence, hash FROM ledgers"
    " WHERE root_budget = $1::text FOR UPDATE"};
inline constexpr PostgresStatement kMakeLedgers = {
    "INSERT INTO ledgers (root_budget) SELECT * FROM unnest($1::text[])"
    " ON CONFLICT (root_budget) DO NOTHING"};
// Reads the entries after the positions. Because of the inner ORDER BY, the planner walks along the
// index of each ledger, whatever it knows of the tables. Uses the numbers of the ledgers: with
// their names the planner walked along all existing ledgers.
inline constexpr PostgresStatement kTails = {
    "SELECT e.hash, e.content, known.ledger_id"
    " FROM unnest($1::bigint[], $2::bigint[]) AS known (ledger_id, sequence)"
    " CROSS JOIN LATERAL (SELECT sequence, hash, content FROM entries"
    "  WHERE ledger_id = known.ledger_id AND sequence > known.sequence"
    "  ORDER BY sequence LIMIT $3::bigint) e"
    " ORDER BY known.ledger_id, e.sequence LIMIT $3::bigint"};
inline constexpr PostgresStatement kInsertEntries = {
    "INSERT INTO entries (ledger_id, sequence, hash, content)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])"};
// Has no ON CONFLICT DO NOTHING, because no entry may be stored without its key. The key was looked
// up while the row of its ledger was held. If it is taken nevertheless, the error of class 23
// becomes ABORTED: nothing of the batch is durable, and it is decided again on the stored state.
// CockroachDB under SERIALIZABLE, and YugabyteDB if its READ COMMITTED is snapshot isolation, may
// return 40001 instead, here or when the row is locked, with the same effect.
inline constexpr PostgresStatement kInsertCharges = {
    "INSERT INTO charges (ledger_id, session_number, attempt, charge_id, sequence)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])"};
inline constexpr PostgresStatement kInsertBlocks = {
    "INSERT INTO charge_blocks (ledger_id, session_number, block)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING"};
inline constexpr PostgresStatement kInsertBudgets = {
    "INSERT INTO budgets (budget_id, ledger_id)"
    " SELECT * FROM unnest($1::text[], $2::bigint[])"};
inline constexpr PostgresStatement kUpdateHeads = {
    "UPDATE ledgers l SET sequence = new.sequence, hash = new.hash"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS new (ledger_id, sequence, hash)"
    " WHERE l.ledger_id = new.ledger_id"};
inline constexpr PostgresStatement kUpdateHead = {
    "UPDATE ledgers SET sequence = $2::bigint, hash = $3::bytea WHERE ledger_id = $1::bigint"};
inline constexpr PostgresStatement kReadPage = {
    "SELECT hash, content FROM entries WHERE ledger_id = $1::bigint AND sequence > $2::bigint"
    " ORDER BY sequence LIMIT $3::bigint"};
// Reads the entries of a page that have fewer than $4 bytes of contents before them.
inline constexpr PostgresStatement kReadPageOfBytes = {
    "SELECT hash, content FROM (SELECT sequence, hash, content,"
    " sum(octet_length(content)) OVER (ORDER BY sequence) - octet_length(content) AS bytes_before"
    " FROM entries WHERE ledger_id = $1::bigint AND sequence > $2::bigint"
    " ORDER BY sequence LIMIT $3::bigint) page"
    " WHERE bytes_before < $4::bigint ORDER BY sequence"};
// A key whose entry is missing is found without an entry: the key is damaged, not free.
inline constexpr PostgresStatement kFindCharge = {
    "SELECT e.hash, e.content FROM charges c"
    " LEFT JOIN entries e ON e.ledger_id = c.ledger_id AND e.sequence = c.sequence"
    " WHERE c.ledger_id = $1::bigint AND c.session_number = $2::bigint"
    " AND c.attempt = $3::bigint AND c.charge_id = $4::text"};
// Finds many keys. The inner LIMIT makes it one index lookup per key.
inline constexpr PostgresStatement kFindCharges = {
    "SELECT k.ledger_id, k.session_number, k.attempt, k.charge_id, e.hash, e.content"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])"
    "  AS k (ledger_id, session_number, attempt, charge_id)"
    " CROSS JOIN LATERAL (SELECT e.hash, e.content FROM charges c"
    "  LEFT JOIN entries e ON e.ledger_id = c.ledger_id AND e.sequence = c.sequence"
    "  WHERE c.ledger_id = k.ledger_id AND c.session_number = k.session_number"
    "  AND c.attempt = k.attempt AND c.charge_id = k.charge_id LIMIT 1) e"};
inline constexpr PostgresStatement kListCharges = {
    "SELECT e.hash, e.content FROM"
    " (SELECT block FROM charge_blocks WHERE ledger_id = $1::bigint"
    "  AND session_number = $2::bigint AND block >= $3::bigint ORDER BY block LIMIT $4::bigint) b"
    " CROSS JOIN LATERAL (SELECT sequence, hash, content FROM entries"
    "  WHERE ledger_id = $1::bigint AND sequence BETWEEN b.block * 64 AND b.block * 64 + 63"
    "  ORDER BY sequence) e"
    " ORDER BY e.sequence"};
inline constexpr PostgresStatement kFindLedgers = {
    "SELECT b.budget_id, l.root_budget FROM budgets b"
    " JOIN ledgers l ON l.ledger_id = b.ledger_id WHERE b.budget_id = ANY ($1::text[])"};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_STATEMENTS_H_
