#include "server/storage/sqlite/lost_commits.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/storage/export_format.h"
#include "server/storage/sqlite/handles.h"
#include "server/storage/sqlite/schema.h"
#include "server/storage/sqlite/write_ahead_log.h"

namespace epsledger::storage {
namespace {

absl::Status Error(sqlite3* database) {
  const int code = sqlite3_errcode(database) & 0xff;
  const std::string message = absl::StrCat("ledger database: ", sqlite3_errmsg(database));
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? absl::DataLossError(message)
                                                         : absl::UnavailableError(message);
}

absl::StatusOr<Statement> Prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
    return Error(database);
  }
  return Statement(statement);
}

absl::StatusOr<bool> HasTable(sqlite3* database, const char* name) {
  ASSIGN_OR_RETURN(
      const Statement find,
      Prepare(database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1"));
  sqlite3_bind_text(find.get(), 1, name, -1, SQLITE_STATIC);
  const int step = sqlite3_step(find.get());
  if (step == SQLITE_ROW || step == SQLITE_DONE) return step == SQLITE_ROW;
  return Error(database);
}

// Copies the bytes of the column into an array. False if the sizes differ.
template <class Bytes>
bool CopyColumn(sqlite3_stmt* row, int column, Bytes* bytes) {
  const void* data = sqlite3_column_blob(row, column);
  if (data == nullptr || sqlite3_column_bytes(row, column) != static_cast<int>(bytes->size())) {
    return false;
  }
  std::memcpy(bytes->data(), data, bytes->size());
  return true;
}

// Returns the hash of an entry, or nothing if it does not exist.
absl::StatusOr<std::optional<core::Hash>> HashOf(sqlite3* database, int64_t entry_id) {
  ASSIGN_OR_RETURN(const Statement find,
                   Prepare(database, "SELECT hash FROM entries WHERE entry_id = ?1"));
  sqlite3_bind_int64(find.get(), 1, entry_id);
  const int step = sqlite3_step(find.get());
  core::Hash hash;
  if (step == SQLITE_ROW && CopyColumn(find.get(), 0, &hash)) return hash;
  if (step == SQLITE_ROW || step == SQLITE_DONE) return std::nullopt;
  return Error(database);
}

std::string EntryName(int64_t entry_id) {
  return absl::StrFormat("entry %d of ledger %d", entry_id & kMaxSequence,
                         entry_id >> kSequenceBits);
}

// OK if the database holds everything that the anchor names.
absl::Status Compare(sqlite3* database, const Anchor& anchor) {
  if (anchor.entry_count == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Anchor present, PresentState(database));
  absl::StatusOr<std::optional<core::Hash>> hash = std::optional<core::Hash>();
  if (present.entry_count > 0) hash = HashOf(database, anchor.entry_id);
  if (!hash.ok()) return hash.status();
  if (present.entry_count >= anchor.entry_count && *hash == anchor.hash) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat(
      "entries that were acknowledged are gone: its anchor knows %d, the last of them %s with hash "
      "%s, and the database holds %d%s. Its log was damaged, cut off or removed, or an older "
      "database has taken its place",
      anchor.entry_count, EntryName(anchor.entry_id), ToHex(anchor.hash), present.entry_count,
      hash->has_value() && **hash != anchor.hash ? ", another one in that place" : ""));
}

absl::Status CheckAnchor(sqlite3* database, const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<core::Incarnation> incarnations, IncarnationsOf(database));
  sqlite3_vfs* vfs = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  if (vfs == nullptr) return absl::UnavailableError("its file system cannot be asked");
  const absl::StatusOr<std::unique_ptr<AnchorFile>> file =
      AnchorFile::Open(vfs, AnchorOf(path), /*create=*/false);
  absl::StatusOr<std::optional<Anchor>> anchor = std::optional<Anchor>();
  if (file.ok()) {
    anchor = (*file)->Read();
  } else if (!absl::IsNotFound(file.status())) {
    return file.status();
  }
  // The first anchor is durable before the database has an incarnation, so this anchor was never
  // finished.
  if (absl::IsDataLoss(anchor.status()) && incarnations.empty()) return absl::OkStatus();
  if (!anchor.ok()) return anchor.status();
  if (!anchor->has_value()) {
    if (incarnations.empty()) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(AnchorOf(path), file.ok() ? " is empty" : " is missing",
                     ": nothing tells whether the database has lost its last commits"));
  }
  const bool known =
      std::any_of(incarnations.begin(), incarnations.end(),
                  [&](const core::Incarnation& life) { return life.id == (*anchor)->incarnation; });
  if (!incarnations.empty() && !known) {
    return absl::DataLossError(absl::StrCat(
        AnchorOf(path), " belongs to another database, or to a later state of this one"));
  }
  return Compare(database, **anchor);
}

}  // namespace

absl::StatusOr<std::vector<core::Incarnation>> IncarnationsOf(sqlite3* database) {
  std::vector<core::Incarnation> incarnations;
  ASSIGN_OR_RETURN(const bool there, HasTable(database, "incarnations"));
  if (!there) return incarnations;
  ASSIGN_OR_RETURN(
      const Statement select,
      Prepare(database,
              "SELECT incarnation, begin_time, reason FROM incarnations ORDER BY number"));
  int step;
  while ((step = sqlite3_step(select.get())) == SQLITE_ROW) {
    core::Incarnation& life = incarnations.emplace_back();
    const unsigned char* reason = sqlite3_column_text(select.get(), 2);
    if (!CopyColumn(select.get(), 0, &life.id) || reason == nullptr) {
      return absl::DataLossError("the table of incarnations is damaged");
    }
    life.begin_seconds = sqlite3_column_int64(select.get(), 1);
    life.reason = reinterpret_cast<const char*>(reason);
  }
  if (step != SQLITE_DONE) return Error(database);
  return incarnations;
}

absl::StatusOr<Anchor> PresentState(sqlite3* database) {
  Anchor anchor;
  ASSIGN_OR_RETURN(const bool there, HasTable(database, "entries"));
  if (!there) return anchor;
  // Entries of a ledger are numbered from 1 without a gap.
  ASSIGN_OR_RETURN(const Statement last, Prepare(database,
                                                 "SELECT (SELECT max(entry_id) FROM entries"
                                                 "        WHERE entry_id BETWEEN l.ledger_id << 40 "
                                                 "AND (l.ledger_id << 40) + 1099511627775)"
                                                 " FROM ledgers l ORDER BY l.ledger_id"));
  int step;
  while ((step = sqlite3_step(last.get())) == SQLITE_ROW) {
    const int64_t entry_id = sqlite3_column_int64(last.get(), 0);
    if (entry_id == 0) continue;  // a ledger without entries
    anchor.entry_id = entry_id;
    anchor.entry_count += entry_id & kMaxSequence;
  }
  if (step != SQLITE_DONE) return Error(database);
  if (anchor.entry_count == 0) return anchor;
  ASSIGN_OR_RETURN(const std::optional<core::Hash> hash, HashOf(database, anchor.entry_id));
  if (!hash.has_value()) {
    return absl::DataLossError(absl::StrCat(EntryName(anchor.entry_id), ": damaged hash"));
  }
  anchor.hash = *hash;
  return anchor;
}

absl::Status CheckForLostDatabase(const std::string& path) {
  std::error_code error;
  const auto size_of = [&](const std::string& name) -> std::uintmax_t {
    const std::uintmax_t size = std::filesystem::file_size(name, error);
    return error ? 0 : size;
  };
  if (size_of(path) > 0) return absl::OkStatus();
  for (const std::string& beside : {path + "-wal", AnchorOf(path)}) {
    if (size_of(beside) > 0) {
      return absl::DataLossError(absl::StrCat(
          path, ": is missing or empty, and ", beside,
          " of it is there: put the database back. To begin anew, move that file away first"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckForLostCommits(sqlite3* database, const std::string& path) {
  sqlite3_file* log = nullptr;
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  absl::Status status;
  if (log != nullptr && log->pMethods != nullptr && file != nullptr) {
    status = CheckWriteAheadLog(log, file);
  }
  if (status.ok()) status = CheckAnchor(database, path);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

}  // namespace epsledger::storage
