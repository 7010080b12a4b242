#include "server/storage/postgres/postgres_store.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/core/tenant.h"
#include "server/storage/charge_block.h"
#include "server/storage/failpoint.h"
#include "server/storage/postgres/incarnations.h"
#include "server/storage/postgres/key_rows.h"
#include "server/storage/postgres/precautions.h"
#include "server/storage/postgres/statements.h"
#include "server/storage/postgres/writer_rights.h"
#include "spdlog/spdlog.h"

namespace epsledger::storage {
namespace {

// Rows per page of a long read.
constexpr int64_t kPage = 10'000;
// Entries that a transaction buffers before it sends them.
constexpr size_t kMaxPending = 8'192;

absl::StatusOr<core::Entry> EntryOf(const PostgresRows& rows, int row, int hash_column) {
  core::Hash hash;
  const std::string_view bytes = rows.Bytes(row, hash_column);
  if (bytes.size() != hash.size()) return absl::DataLossError("ledger entry: damaged hash");
  std::memcpy(hash.data(), bytes.data(), hash.size());
  return core::DecodeEntry(std::string(rows.Bytes(row, hash_column + 1)), hash);
}

absl::StatusOr<std::string> ReadPassword(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return absl::NotFoundError(
        absl::StrCat("--postgres-password-file: ", path, " cannot be read, or is empty"));
  }
  return line;
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> OpenSession(
    const PostgresStore::Options& options, absl::Duration patience) {
  ASSIGN_OR_RETURN(const std::string password, ReadPassword(options.password_file));
  return PostgresConnection::Open(options.conninfo, password, patience);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresStore>> PostgresStore::Open(const Options& options) {
  std::unique_ptr<PostgresStore> store(new PostgresStore(options));
  RETURN_IF_ERROR(store->Connect());
  return store;
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresStore::ConnectToRead(
    const Options& options) {
  return OpenSession(options, absl::InfiniteDuration());  // it may read very much
}

absl::Status PostgresStore::Connect() {
  connection_ = nullptr;
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection,
                   OpenSession(options_, options_.patience));
  ASSIGN_OR_RETURN(const PostgresEngine* const engine,
                   FindPostgresEngine(*connection, options_.untested_engine));
  absl::Status status = PrepareSession(*connection, *engine);
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(const std::string phase, connection->ReadText(kPhase.sql));
  status = CheckPhase(phase);
  if (!status.ok()) return status;
  if (!std::exchange(warned_, true)) {
    for (const std::string& missing : MissingPrecautions(*connection)) spdlog::warn("{}", missing);
    if (!engine->is_tested) {
      spdlog::warn("--postgres: this store was never run on {}; {}", engine->name, engine->caution);
    }
  }
  if (incarnations_.empty() && !options_.for_migration) {
    ASSIGN_OR_RETURN(auto incarnations, KeepIncarnations(*connection, *engine));
    incarnations_ = std::move(incarnations);
  }
  if (!options_.for_migration) status = connection->Execute(kServingSettings);
  if (!status.ok()) return status;
  connection_ = std::move(connection);
  engine_ = engine;
  return absl::OkStatus();
}

absl::Status PostgresStore::PrepareSession(PostgresConnection& connection,
                                           const PostgresEngine& engine) {
  RETURN_IF_ERROR(connection.Execute(engine.session_settings));
  // The owner has made the tables, and what keeps them is said of each.
  if (engine.owner_keeps_rights) {
    RETURN_IF_ERROR(CheckWriterRights(connection));
  }
  RETURN_IF_ERROR(engine.check_durability(connection, options_.without_standby));
  return engine.owner_keeps_rights ? absl::OkStatus() : MigratePostgresSchema(connection, engine);
}

absl::Status PostgresStore::ConnectIfLost() {
  return connection_ != nullptr && !connection_->lost() ? absl::OkStatus() : Connect();
}

absl::Status PostgresStore::CheckPhase(std::string_view phase) const {
  ASSIGN_OR_RETURN(const PostgresPhase found, PostgresPhaseOf(phase));
  if (options_.for_migration || found == PostgresPhase::kOpen) return absl::OkStatus();
  return absl::FailedPreconditionError(
      found == PostgresPhase::kMoved
          ? "ledger database: its ledgers have been moved elsewhere by `epsledgerd ledger migrate`"
          : "ledger database: `epsledgerd ledger migrate` has not brought all of the ledgers; run "
            "it again to its end");
}

absl::Status PostgresStore::CheckPhaseAndVersion(const PostgresRows& answer) const {
  absl::Status status = CheckPostgresVersion(answer.Int(0, 1));
  return status.ok() ? CheckPhase(answer.Bytes(0, 0)) : status;
}

PostgresCall PostgresStore::StillDurable() const {
  return {&engine_->still_durable, PostgresValues().Int(options_.without_standby ? 1 : 0)};
}

absl::Status PostgresStore::CheckStillDurable(const PostgresRows& answer) {
  if (answer.Bytes(0, 0) == "yes") return absl::OkStatus();
  connection_ = nullptr;
  return absl::UnavailableError(
      absl::StrCat("ledger database: ", engine_->still_durable_settings,
                   " is not any more what it was: what is acknowledged might be lost"));
}

absl::Status PostgresStore::AwaitStandby() {
  if (!seen_more_ || options_.without_standby || engine_->await_standby == nullptr) {
    return absl::OkStatus();
  }
  connection_->TakeWarning();
  if (const auto awaited = connection_->Run({{engine_->await_standby}}); !awaited.ok()) {
    return awaited.status();
  }
  if (const std::string warning = connection_->TakeWarning(); !warning.empty()) {
    return absl::UnavailableError("ledger database: the standby may lack entries: " + warning);
  }
  seen_more_ = false;
  return absl::OkStatus();
}

absl::Status PostgresStore::ReadAll(Visit visit) {
  RETURN_IF_ERROR(ConnectIfLost());
  const auto end = [this](absl::Status status) {
    const absl::Status ended = connection_->Run({{&kCommit}}).status();
    return status.ok() ? ended : status;
  };
  if (auto began = connection_->Run({{&kBeginSnapshot}}); !began.ok()) return began.status();
  int64_t ledger_id = std::numeric_limits<int64_t>::min();
  int64_t sequence = 0;
  KeyTable keys;
  while (true) {
    const auto page =
        connection_->Run({{&kReadAll, PostgresValues().Int(ledger_id).Int(sequence).Int(kPage)}});
    if (!page.ok()) return end(page.status());
    const PostgresRows& rows = page->front();
    for (int row = 0; row < rows.count(); ++row) {
      const std::string root_id(rows.Bytes(row, 0));
      absl::StatusOr<core::Entry> entry = EntryOf(rows, row, 2);
      if (root_id.empty()) entry = absl::DataLossError("ledger entry: its ledger has gone");
      if (!entry.ok()) return end(entry.status());
      ledger_id = rows.Int(row, 1);
      sequence = rows.Int(row, 4);
      if (entry->sequence != sequence) {
        return end(absl::DataLossError(absl::StrFormat(
            "ledger of budgets/%s: entry %d is stored as another", root_id, entry->sequence)));
      }
      positions_[root_id] = {.ledger_id = ledger_id, .head = {sequence, entry->hash}};
      seen_more_ = true;
      keys.AddEntry(ledger_id, *entry);
      if (absl::Status status = visit(root_id, *std::move(entry)); !status.ok()) {
        return end(status);
      }
    }
    if (rows.count() == kPage) continue;
    absl::StatusOr<std::set<int64_t>> damaged = ReadDamagedLedgers(*connection_, std::move(keys));
    if (damaged.ok()) damaged_keys_ = *std::move(damaged);
    return end(damaged.status());
  }
}

void PostgresStore::NoteHeads(const PostgresRows& rows, Heads* heads) {
  for (int row = 0; row < rows.count(); ++row) {
    const std::string root_id(rows.Bytes(row, 0));
    positions_[root_id].ledger_id = rows.Int(row, 1);
    core::LedgerHead& head = (*heads)[root_id];
    head.sequence = rows.Int(row, 2);
    const std::string_view hash = rows.Bytes(row, 3);
    // A damaged hash stays zero and matches no entry.
    if (hash.size() == head.hash.size()) std::memcpy(head.hash.data(), hash.data(), hash.size());
  }
}

PostgresCall PostgresStore::TailsOf(const std::vector<std::string>& root_ids) {
  std::vector<int64_t> ids, known;
  for (const std::string& root_id : root_ids) {
    const Position& position = positions_[root_id];
    ids.push_back(position.ledger_id);  // no ledger has the number 0
    known.push_back(position.head.sequence);
  }
  // For one ledger, the common case: read without a sort, because others wait for it.
  if (ids.size() == 1) return {&kReadPage, PostgresValues().Int(ids[0]).Int(known[0]).Int(kPage)};
  return {&kTails, PostgresValues().IntArray(ids).IntArray(known).Int(kPage)};
}

absl::Status PostgresStore::HandOut(const std::vector<std::string>& root_ids,
                                    const PostgresRows& tails, Visit visit) {
  std::map<int64_t, const std::string*> root_of;
  for (const std::string& root_id : root_ids) root_of[LedgerId(root_id)] = &root_id;
  const bool one = root_ids.size() == 1;
  for (int row = 0; row < tails.count(); ++row) {
    const std::string& root_id = one ? root_ids[0] : *root_of.at(tails.Int(row, 2));
    if (damaged_.count(root_id) > 0) continue;
    absl::StatusOr<core::Entry> entry = EntryOf(tails, row, 0);
    core::LedgerHead& reached = positions_[root_id].head;
    if (!entry.ok() || entry->sequence != reached.sequence + 1) {
      damaged_.insert(root_id);
      continue;
    }
    const core::LedgerHead head = {entry->sequence, entry->hash};
    seen_more_ = true;
    RETURN_IF_ERROR(visit(root_id, *std::move(entry)));
    reached = head;
  }
  return absl::OkStatus();
}

absl::Status PostgresStore::HandOutAll(std::vector<std::string> root_ids, Visit visit) {
  int count = kPage;
  while (count == kPage) {
    std::erase_if(root_ids, [this](const auto& root_id) { return damaged_.count(root_id) > 0; });
    if (root_ids.empty()) break;
    ASSIGN_OR_RETURN(const auto page, connection_->Run({TailsOf(root_ids)}));
    RETURN_IF_ERROR(HandOut(root_ids, page.front(), visit));
    count = page.front().count();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PostgresStore::CatchUp(Visit visit) {
  RETURN_IF_ERROR(ConnectIfLost());
  // Read the heads first; entries that are appended in between are handed out beyond them.
  ASSIGN_OR_RETURN(const auto found, connection_->Run({{&kPhase}, StillDurable(), {&kAllHeads}}));
  RETURN_IF_ERROR(CheckPhaseAndVersion(found[0]));
  if (!CheckStillDurable(found[1]).ok()) {
    RETURN_IF_ERROR(Connect());
  }
  Heads stored;
  NoteHeads(found[2], &stored);
  std::vector<std::string> lost;
  std::vector<std::string> behind;
  for (const auto& [root_id, position] : positions_) {
    const core::LedgerHead& head = stored[root_id];  // zero if the ledger is gone
    if (head.sequence > position.head.sequence) {
      behind.push_back(root_id);
    } else if (!(head == position.head)) {
      lost.push_back(root_id);
    }
  }
  RETURN_IF_ERROR(HandOutAll(behind, visit));
  for (const std::string& root_id : behind) {
    const core::LedgerHead& head = stored[root_id];
    const core::LedgerHead& reached = positions_[root_id].head;
    if (reached.sequence < head.sequence ||
        (reached.sequence == head.sequence && reached.hash != head.hash)) {
      lost.push_back(root_id);
    }
  }
  RETURN_IF_ERROR(AwaitStandby());
  return lost;
}

absl::Status PostgresStore::Begin() {
  Failpoint("begin.before");
  if (began_) return absl::FailedPreconditionError("a transaction is open already");
  RETURN_IF_ERROR(ConnectIfLost());
  began_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PostgresStore::Hold(
    const std::vector<std::string>& root_ids, Visit visit) {
  if (!began_) return absl::FailedPreconditionError("no transaction is open");
  const PostgresValues names = PostgresValues().TextArray({root_ids.begin(), root_ids.end()});
  const PostgresCall lock = root_ids.size() == 1
                                ? PostgresCall{&kLockHead, PostgresValues().Bytes(root_ids[0])}
                                : PostgresCall{&kLockHeads, names};
  const auto ids = [&] {
    std::vector<int64_t> found;
    for (const std::string& root_id : root_ids) found.push_back(LedgerId(root_id));
    return found;
  };
  const std::vector<int64_t> known_ids = ids();
  // Each statement sees what was committed before it began, so the phase and the tails are read
  // after the locks.
  std::vector<PostgresCall> calls;
  if (!open_) calls.push_back({&kBegin});
  calls.insert(calls.end(), {lock, {&engine_->held_phase}, TailsOf(root_ids)});
  open_ = true;  // also if the lock fails
  ASSIGN_OR_RETURN(const auto results, connection_->Run(calls));
  Failpoint("begin.after");
  const auto* const locked = &*results.end() - 3;
  RETURN_IF_ERROR(CheckPhaseAndVersion(locked[1]));
  Heads heads;
  NoteHeads(locked[0], &heads);
  // The tail is wrong if it was read with a number that the ledger does not have (any more).
  bool all = heads.size() == root_ids.size() && known_ids == ids();
  if (all) {
    RETURN_IF_ERROR(HandOut(root_ids, locked[2], visit));
    all = locked[2].count() < kPage;
  }
  if (heads.size() < root_ids.size()) {
    // Locks the ledgers that it creates. If another transaction is creating one, it exists after
    // the wait.
    ASSIGN_OR_RETURN(const auto made, connection_->Run({{&kMakeLedgers, names}, lock}));
    NoteHeads(made[1], &heads);
  }
  if (!all) {
    RETURN_IF_ERROR(HandOutAll(root_ids, visit));
  }
  held_.insert(root_ids.begin(), root_ids.end());
  std::vector<std::string> lost;
  for (const std::string& root_id : root_ids) {
    if (!(heads[root_id] == positions_[root_id].head)) lost.push_back(root_id);
  }
  return lost;
}

absl::Status PostgresStore::Append(const std::string& root_id, const core::Entry& entry) {
  if (!began_) return absl::FailedPreconditionError("no transaction is open");
  Failpoint("append.before");
  if (held_.count(root_id) == 0) {
    ASSIGN_OR_RETURN(
        const std::vector<std::string> lost,
        Hold({root_id}, [](const std::string& root, const core::Entry& unseen) {
          return absl::AbortedError(absl::StrFormat(
              "ledger database: entry %d of %s was appended meanwhile", unseen.sequence, root));
        }));
    if (!lost.empty())
      return absl::DataLossError("ledger database: has lost entries of " + root_id);
  }
  Position& position = positions_[root_id];
  const int64_t ledger_id = position.ledger_id;
  if (entry.sequence != position.head.sequence + 1) {
    return absl::AbortedError(absl::StrFormat("ledger database: entry %d of %s follows entry %d",
                                              entry.sequence, root_id, position.head.sequence));
  }
  RETURN_IF_ERROR(pending_.Add(root_id, ledger_id, entry));
  if (const std::optional<core::ChargeKey> key = core::KeyOf(entry.body)) {
    prefetched_.erase(KeyIn(ledger_id, *key));
  }
  position.head = {entry.sequence, entry.hash};
  new_heads_[ledger_id] = position.head;
  appended_.insert(root_id);
  return pending_.size() < kMaxPending ? absl::OkStatus() : Flush();
}

absl::Status PostgresStore::Flush() {
  RETURN_IF_ERROR(connection_->Run(pending_.Inserts()).status());
  pending_.Clear();
  return absl::OkStatus();
}

absl::Status PostgresStore::Commit() {
  if (!began_) return absl::FailedPreconditionError("no transaction is open");
  Failpoint("commit.before");
  if (open_) {
    std::vector<PostgresCall> calls = pending_.Inserts();
    if (new_heads_.size() == 1) {
      const auto& [ledger_id, head] = *new_heads_.begin();
      calls.push_back(
          {&kUpdateHead,
           PostgresValues().Int(ledger_id).Int(head.sequence).Bytes(BytesOf(head.hash))});
    } else if (!new_heads_.empty()) {
      std::vector<int64_t> ledger_ids, sequences;
      std::vector<std::string_view> hashes;
      for (const auto& [ledger_id, head] : new_heads_) {
        ledger_ids.push_back(ledger_id);
        sequences.push_back(head.sequence);
        hashes.push_back(BytesOf(head.hash));
      }
      calls.push_back(
          {&kUpdateHeads,
           PostgresValues().IntArray(ledger_ids).IntArray(sequences).ByteArray(hashes)});
    }
    calls.push_back({&kCommit});
    // Check after the commit: if somebody unsets the standby while commits wait for it, they are
    // released without a warning.
    calls.push_back(StillDurable());
    connection_->TakeWarning();
    ASSIGN_OR_RETURN(const PostgresRows still_durable, RunCommit(std::move(calls)));
    if (const std::string warning = connection_->TakeWarning(); !warning.empty()) {
      return absl::UnavailableError("ledger database: the commit may be lost: " + warning);
    }
    RETURN_IF_ERROR(CheckStillDurable(still_durable));
    seen_more_ = false;  // the rows that it locked are in the log after what it saw
  }
  Failpoint("commit.after");
  EndTransaction();
  return absl::OkStatus();
}

absl::StatusOr<PostgresRows> PostgresStore::RunCommit(std::vector<PostgresCall> calls) {
  if (!engine_->is_aborted_commit_definite && calls.size() > 2) {
    const std::vector<PostgresCall> writes(calls.begin(), calls.end() - 2);
    RETURN_IF_ERROR(connection_->Run(writes).status());
    calls.erase(calls.begin(), calls.end() - 2);
  }
  // After a failed statement the rest is skipped, including COMMIT.
  absl::StatusOr<std::vector<PostgresRows>> results = connection_->Run(calls);
  if (results.ok()) return std::move(results->back());
  if (engine_->is_aborted_commit_definite || !absl::IsAborted(results.status())) {
    return results.status();
  }
  return absl::UnavailableError(results.status().message());
}

absl::StatusOr<std::vector<std::string>> PostgresStore::Rollback() {
  if (open_ && connection_ != nullptr && !connection_->lost()) {
    // If the rollback fails, the transaction ends with its session.
    if (!connection_->Execute("ROLLBACK").ok()) connection_ = nullptr;
  }
  std::vector<std::string> forgotten(appended_.begin(), appended_.end());
  for (const std::string& root_id : forgotten) positions_.erase(root_id);
  // A ledger that this transaction created no longer exists.
  for (const std::string& root_id : held_) {
    const auto it = positions_.find(root_id);
    if (it != positions_.end() && it->second.head.sequence == 0) positions_.erase(it);
  }
  EndTransaction();
  return forgotten;
}

void PostgresStore::EndTransaction() {
  began_ = false;
  open_ = false;
  held_.clear();
  appended_.clear();
  pending_.Clear();
  prefetched_.clear();
  new_heads_.clear();
}

int64_t PostgresStore::LedgerId(const std::string& root_id) const {
  const auto it = positions_.find(root_id);
  return it == positions_.end() ? 0 : it->second.ledger_id;
}

absl::StatusOr<PostgresRows> PostgresStore::Read(const PostgresCall& call) {
  if (pending_.size() > 0) {
    RETURN_IF_ERROR(Flush());
  }
  return Ask(call);
}

absl::StatusOr<PostgresRows> PostgresStore::Ask(const PostgresCall& call) {
  if (connection_ == nullptr || connection_->lost()) {
    return absl::UnavailableError("ledger database: the connection is lost");
  }
  ASSIGN_OR_RETURN(std::vector<PostgresRows> results, connection_->Run({call}));
  return std::move(results.front());
}

absl::StatusOr<std::vector<core::Entry>> PostgresStore::ReadEntries(const std::string& root_id,
                                                                    int64_t after_sequence,
                                                                    int64_t limit,
                                                                    int64_t max_bytes) {
  ASSIGN_OR_RETURN(
      const PostgresRows rows,
      Read(
          {&kReadPageOfBytes,
           PostgresValues().Int(LedgerId(root_id)).Int(after_sequence).Int(limit).Int(max_bytes)}));
  std::vector<core::Entry> result;
  for (int row = 0; row < rows.count(); ++row) {
    ASSIGN_OR_RETURN(core::Entry entry, EntryOf(rows, row, 0));
    result.push_back(std::move(entry));
  }
  return result;
}

absl::StatusOr<std::optional<core::Entry>> PostgresStore::FindCharge(const std::string& root_id,
                                                                     const core::ChargeKey& key) {
  const int64_t ledger_id = LedgerId(root_id);
  const StoredChargeKey stored = KeyIn(ledger_id, key);
  if (const core::Entry* pending = pending_.FindCharge(stored)) return *pending;
  if (const auto known = prefetched_.find(stored); known != prefetched_.end()) return known->second;
  // Pending rows have other keys, so they need not be stored first.
  ASSIGN_OR_RETURN(const PostgresRows rows, Ask({&kFindCharge, PostgresValues()
                                                                   .Int(ledger_id)
                                                                   .Int(key.session_number)
                                                                   .Int(key.attempt)
                                                                   .Bytes(key.charge_id)}));
  if (rows.count() == 0) return std::nullopt;
  ASSIGN_OR_RETURN(core::Entry entry, EntryOf(rows, 0, 0));
  return entry;
}

absl::Status PostgresStore::Prefetch(const std::vector<StoredKey>& keys) {
  if (keys.empty()) return absl::OkStatus();
  std::vector<int64_t> ledger_ids, sessions, attempts;
  std::vector<std::string_view> charge_ids;
  for (const StoredKey& stored : keys) {
    const core::ChargeKey& key = stored.key;
    ledger_ids.push_back(LedgerId(stored.root_id));
    sessions.push_back(key.session_number);
    attempts.push_back(key.attempt);
    charge_ids.push_back(key.charge_id);
    prefetched_.try_emplace(KeyIn(ledger_ids.back(), key));
  }
  ASSIGN_OR_RETURN(const PostgresRows rows, Ask({&kFindCharges, PostgresValues()
                                                                    .IntArray(ledger_ids)
                                                                    .IntArray(sessions)
                                                                    .IntArray(attempts)
                                                                    .TextArray(charge_ids)}));
  for (int row = 0; row < rows.count(); ++row) {
    absl::StatusOr<core::Entry> entry = EntryOf(rows, row, 4);
    const StoredChargeKey key(rows.Int(row, 0), rows.Int(row, 1), rows.Int(row, 2),
                              std::string(rows.Bytes(row, 3)));
    if (entry.ok()) {
      prefetched_[key] = *std::move(entry);
    } else {
      prefetched_.erase(key);  // FindCharge reports the fault
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<core::Entry>> PostgresStore::ListCharges(const std::string& root_id,
                                                                    int64_t session_number,
                                                                    int64_t after_sequence,
                                                                    int64_t limit,
                                                                    int64_t max_bytes) {
  std::vector<core::Entry> result;
  int64_t after = after_sequence;
  int64_t block = BlockOf(after_sequence);
  // Every block holds at least one charge of the session, so `limit` blocks are enough; usually
  // fewer are.
  const int64_t blocks = limit / 8 + 1;
  int64_t bytes = 0;
  while (static_cast<int64_t>(result.size()) < limit && bytes < max_bytes) {
    ASSIGN_OR_RETURN(
        const PostgresRows rows,
        Read({&kListCharges,
              PostgresValues().Int(LedgerId(root_id)).Int(session_number).Int(block).Int(blocks)}));
    if (rows.count() == 0) break;
    for (int row = 0; row < rows.count(); ++row) {
      ASSIGN_OR_RETURN(core::Entry entry, EntryOf(rows, row, 0));
      block = BlockOf(entry.sequence) + 1;
      const std::optional<core::ChargeKey> charge = core::ChargeKeyOf(entry.body);
      if (!charge.has_value() || charge->session_number != session_number ||
          entry.sequence <= after || static_cast<int64_t>(result.size()) >= limit ||
          bytes >= max_bytes) {
        continue;
      }
      after = entry.sequence;
      bytes += static_cast<int64_t>(entry.content.size());
      result.push_back(std::move(entry));
    }
  }
  return result;
}

absl::StatusOr<std::map<std::string, std::string>> PostgresStore::FindLedgers(
    const std::vector<std::string>& budget_ids) {
  RETURN_IF_ERROR(ConnectIfLost());
  ASSIGN_OR_RETURN(
      const PostgresRows rows,
      Read({&kFindLedgers, PostgresValues().TextArray({budget_ids.begin(), budget_ids.end()})}));
  std::map<std::string, std::string> ledgers;
  for (int row = 0; row < rows.count(); ++row) {
    ledgers.emplace(rows.Bytes(row, 0), rows.Bytes(row, 1));
  }
  return ledgers;
}

}  // namespace epsledger::storage
