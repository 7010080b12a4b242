#include "tests/benchmark/raw_postgres_rows.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/postgres/schema.h"

namespace epsledger {
namespace {

using storage::PostgresCall;
using storage::PostgresConnection;
using storage::PostgresRows;
using storage::PostgresStatement;
using storage::PostgresValues;

constexpr PostgresStatement kMakeLedgers = {
    "INSERT INTO ledgers (root_budget) SELECT * FROM unnest($1::text[])"
    " ON CONFLICT (root_budget) DO NOTHING"};
constexpr PostgresStatement kFindLedgers = {
    "SELECT ledger_id, sequence FROM ledgers WHERE root_budget = ANY ($1::text[])"
    " ORDER BY ledger_id"};
// As in server/storage/postgres/postgres_store.cc.
constexpr PostgresStatement kBegin = {"BEGIN"};
constexpr PostgresStatement kLockHeads = {
    "SELECT root_budget, ledger_id, sequence, hash FROM ledgers"
    " WHERE root_budget = ANY ($1::text[]) ORDER BY ledger_id FOR UPDATE"};
constexpr PostgresStatement kInsertEntries = {
    "INSERT INTO entries (ledger_id, sequence, hash, content)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])"};
constexpr PostgresStatement kInsertCharges = {
    "INSERT INTO charges (ledger_id, session_number, attempt, charge_id, sequence)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])"};
constexpr PostgresStatement kInsertBlocks = {
    "INSERT INTO charge_blocks (ledger_id, session_number, block)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING"};
constexpr PostgresStatement kUpdateHeads = {
    "UPDATE ledgers l SET sequence = new.sequence, hash = new.hash"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS new (ledger_id, sequence, hash)"
    " WHERE l.ledger_id = new.ledger_id"};
constexpr PostgresStatement kCommit = {"COMMIT"};

// Seven digits, as in the measured charges.
constexpr int64_t kFirstChargeId = 1'000'000;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "raw PostgreSQL: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::vector<PostgresRows> Run(PostgresConnection& connection,
                              const std::vector<PostgresCall>& calls) {
  absl::StatusOr<std::vector<PostgresRows>> rows = connection.Run(calls);
  Check(rows.status());
  return *std::move(rows);
}

}  // namespace

RawPostgresRows::RawPostgresRows(const std::string& conninfo, const std::vector<std::string>& names)
    : names_(names) {
  auto connection = PostgresConnection::Open(conninfo, "", absl::InfiniteDuration());
  Check(connection.status());
  connection_ = *std::move(connection);
  Check(storage::MigratePostgresSchema(*connection_, storage::kPostgresql));
  const PostgresValues all = PostgresValues().TextArray({names.begin(), names.end()});
  const std::vector<PostgresRows> made =
      Run(*connection_, {{&kMakeLedgers, all}, {&kFindLedgers, all}});
  for (int row = 0; row < made[1].count(); ++row) {
    ledgers_.push_back({made[1].Int(row, 0), made[1].Int(row, 1)});
  }
}

void RawPostgresRows::WriteTransaction(int count, const Shape& shape) {
  const std::string hash(32, 'h');
  const std::string content(shape.content_bytes, 'c');
  std::vector<int64_t> ids, sequences, sessions;
  std::vector<std::string> charge_ids;
  std::map<size_t, int64_t> heads;  // of the ledgers of the transaction, by index
  // In the order of their keys, as the servers send them.
  std::map<std::tuple<int64_t, int64_t, std::string>, int64_t> charges;
  std::set<std::tuple<int64_t, int64_t, int64_t>> blocks;
  for (int i = 0; i < count; ++i) {
    const int64_t run = runs_ + i / shape.run;
    const size_t index = static_cast<size_t>(run % shape.ledgers);
    Ledger& ledger = ledgers_[index];
    const int64_t session = 1 + run / shape.ledgers % shape.sessions;
    ++ledger.sequence;
    ids.push_back(ledger.id);
    sequences.push_back(ledger.sequence);
    heads[index] = ledger.sequence;
    charges[{ledger.id, session, std::to_string(kFirstChargeId + ledger.sequence)}] =
        ledger.sequence;
    blocks.emplace(ledger.id, session, ledger.sequence / 64);
  }
  runs_ += (count + shape.run - 1) / shape.run;

  std::vector<std::string_view> locked, head_hashes, keys;
  std::vector<int64_t> head_ids, head_sequences;
  for (const auto& [index, sequence] : heads) {
    locked.push_back(names_[index]);
    head_ids.push_back(ledgers_[index].id);
    head_sequences.push_back(sequence);
    head_hashes.push_back(hash);
  }
  std::vector<int64_t> key_ids, key_sessions, key_sequences;
  for (const auto& [key, sequence] : charges) {
    key_ids.push_back(std::get<0>(key));
    key_sessions.push_back(std::get<1>(key));
    keys.push_back(std::get<2>(key));
    key_sequences.push_back(sequence);
  }
  std::vector<int64_t> block_ids, block_sessions, block_numbers;
  for (const auto& [ledger_id, session, block] : blocks) {
    block_ids.push_back(ledger_id);
    block_sessions.push_back(session);
    block_numbers.push_back(block);
  }
  const std::vector<int64_t> attempts(keys.size(), 1);
  const std::vector<std::string_view> hashes(ids.size(), hash), contents(ids.size(), content);
  Run(*connection_,
      {{&kBegin},
       {&kLockHeads, PostgresValues().TextArray(locked)},
       {&kInsertEntries,
        PostgresValues().IntArray(ids).IntArray(sequences).ByteArray(hashes).ByteArray(contents)},
       {&kInsertCharges, PostgresValues()
                             .IntArray(key_ids)
                             .IntArray(key_sessions)
                             .IntArray(attempts)
                             .TextArray(keys)
                             .IntArray(key_sequences)},
       {&kInsertBlocks,
        PostgresValues().IntArray(block_ids).IntArray(block_sessions).IntArray(block_numbers)},
       {&kUpdateHeads,
        PostgresValues().IntArray(head_ids).IntArray(head_sequences).ByteArray(head_hashes)},
       {&kCommit}});
  written_ += count;
}

}  // namespace epsledger
