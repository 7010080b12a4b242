#include "server/storage/ledger_migration.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/storage/data_directory.h"
#include "server/storage/replica.h"
#include "server/storage/sqlite/anchor.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace epsledger::storage {
namespace {

using core::Entry;
using core::LedgerHead;
using Heads = std::map<std::string, LedgerHead>;

// Entries per transaction.
constexpr int64_t kEntriesPerCommit = 10'000;

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// With RENAME_NOREPLACE as `flags`, does not replace an existing file, if the file system supports
// it.
absl::Status Rename(const std::string& from, const std::string& to, unsigned flags = 0) {
  int failed = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
  if (failed != 0 && flags != 0 && (errno == EINVAL || errno == ENOSYS)) {
    failed = rename(from.c_str(), to.c_str());
  }
  if (failed != 0) {
    return absl::UnavailableError(
        absl::StrCat(from, ": cannot be renamed to ", to, ": ", std::strerror(errno)));
  }
  return SyncDirectory(std::filesystem::path(to).parent_path().string());
}

// Renames a served database with its anchor. After a crash the anchor exists under any name that
// the database may have.
absl::Status Retire(const std::string& from, const std::string& to) {
  const std::string anchor = AnchorOf(from);
  if (Exists(anchor)) {
    std::error_code ignored;
    std::filesystem::remove(AnchorOf(to), ignored);
    if (link(anchor.c_str(), AnchorOf(to).c_str()) != 0) {
      return absl::UnavailableError(
          absl::StrCat(AnchorOf(to), ": cannot be made: ", std::strerror(errno)));
    }
  }
  absl::Status status = Rename(from, to);
  if (!status.ok()) return status;
  std::error_code ignored;
  std::filesystem::remove(anchor, ignored);
  return status;
}

// A rename would lose the contents of the log.
absl::Status CheckLogIsEmpty(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path + "-wal", error);
  if (error || size == 0) return absl::OkStatus();
  return absl::UnavailableError(path + ": its log is not empty; run the migration again");
}

absl::Status IsAnother(const std::string& root_id) {
  return absl::FailedPreconditionError(
      absl::StrFormat("ledger %s: the destination holds another ledger of this name", root_id));
}

// Returns the heads of a store and replays every ledger. Two chains that end in the same hash are
// equal.
absl::StatusOr<Heads> ReplayAll(LedgerStore& store) {
  Heads heads;
  Replica replica;
  RETURN_IF_ERROR(store.ReadAll([&](const std::string& root_id, const Entry& entry) {
    heads[root_id] = {entry.sequence, entry.hash};
    return replica.Apply(root_id, entry);
  }));
  return heads;
}

struct BothHeads {
  Heads there;
  Heads source;
};

// OK if the source is complete and the destination holds a prefix of it.
absl::StatusOr<BothHeads> Compare(LedgerStore& from, LedgerStore& to) {
  ASSIGN_OR_RETURN(Heads there, ReplayAll(to));
  ASSIGN_OR_RETURN(Heads source, ReplayAll(from));
  Heads common;
  RETURN_IF_ERROR(from.ReadAll([&](const std::string& root_id, const Entry& entry) {
    const auto known = there.find(root_id);
    if (known != there.end() && known->second == LedgerHead{entry.sequence, entry.hash}) {
      common.insert(*known);
    }
    return absl::OkStatus();
  }));
  for (const auto& [root_id, head] : there) {
    if (common.count(root_id) == 0) return IsAnother(root_id);
  }
  return BothHeads{std::move(there), std::move(source)};
}

// Appends the missing entries to `to`. Writes nothing unless Compare returns OK.
absl::StatusOr<MigrationReport> Copy(LedgerStore& from, LedgerStore& to,
                                     MigrationProgress progress) {
  ASSIGN_OR_RETURN(BothHeads both, Compare(from, to));
  const Heads& there = both.there;
  MigrationReport report{.heads = std::move(both.source)};
  int64_t pending = 0;
  const auto commit = [&]() {
    pending = 0;
    progress(report.entry_count);
    return to.Commit();
  };
  absl::Status status = from.ReadAll([&](const std::string& root_id, const Entry& entry) {
    ++report.entry_count;
    const auto known = there.find(root_id);
    if (known != there.end() && entry.sequence <= known->second.sequence) return absl::OkStatus();
    absl::Status appended = pending == 0 ? to.Begin() : absl::OkStatus();
    if (appended.ok()) appended = to.Append(root_id, entry);
    ++report.copied_count;
    if (appended.ok() && ++pending == kEntriesPerCommit) appended = commit();
    return appended;
  });
  if (status.ok() && pending > 0) status = commit();
  if (!status.ok()) return status;
  // Read back what is stored now.
  ASSIGN_OR_RETURN(const Heads stored, ReplayAll(to));
  if (stored != report.heads) {
    return absl::DataLossError("the destination does not hold what was written to it");
  }
  return report;
}

absl::StatusOr<std::unique_ptr<PostgresStore>> OpenForMigration(PostgresStore::Options options) {
  options.for_migration = true;
  return PostgresStore::Open(options);
}

struct Files {
  explicit Files(const std::string& data_dir)
      : database(DatabaseIn(data_dir)),
        moved(MovedDatabaseIn(data_dir)),
        unfinished(UnfinishedDatabaseIn(data_dir)),
        taken_back(TakenBackDatabaseIn(data_dir)) {}
  const std::string database;
  const std::string moved;
  const std::string unfinished;
  const std::string taken_back;
};

// Takes back a MigrateToSqlite that has not published its file: the database still has everything.
// That migration may still be running; without the name of its file it cannot publish it any more.
absl::StatusOr<MigrationReport> TakeBack(const Files& files, PostgresStore& postgres,
                                         MigrationProgress progress) {
  MigrationReport report;
  absl::Status status =
      Exists(files.taken_back) ? absl::OkStatus() : Rename(files.unfinished, files.taken_back);
  if (!status.ok()) return status;
  status = postgres.ReadAll([&](const std::string& root_id, const Entry& entry) {
    report.heads[root_id] = {entry.sequence, entry.hash};
    ++report.entry_count;
    return absl::OkStatus();
  });
  progress(report.entry_count);
  if (status.ok()) status = postgres.SetPhase(PostgresPhase::kOpen);
  if (!status.ok()) return status;
  std::error_code ignored;  // leftover files are only a partial copy
  for (const char* ending : {"-wal", "-shm"}) {
    std::filesystem::remove(files.unfinished + ending, ignored);
  }
  std::filesystem::remove(files.taken_back, ignored);
  return report;
}

}  // namespace

absl::StatusOr<MigrationReport> MigrateToPostgres(const std::string& data_dir,
                                                  const PostgresStore::Options& options,
                                                  MigrationProgress progress) {
  const Files files(data_dir);
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresStore> postgres, OpenForMigration(options));
  ASSIGN_OR_RETURN(const PostgresPhase phase, postgres->Phase());
  if (!Exists(files.database)) {
    if ((Exists(files.taken_back) && phase != PostgresPhase::kReceiving) ||
        (Exists(files.unfinished) && phase == PostgresPhase::kMoved)) {
      return TakeBack(files, *postgres, progress);
    }
    if (!Exists(files.moved) || phase == PostgresPhase::kMoved) {
      return absl::NotFoundError(files.database + ": there is no ledger to move");
    }
    // The source was retired but the database not opened, or everything was done before.
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteStore> source, SqliteStore::Open(files.moved));
    if (phase == PostgresPhase::kOpen) {
      return absl::NotFoundError(files.database + ": its ledgers have been moved already");
    }
    absl::StatusOr<MigrationReport> report = Copy(*source, *postgres, progress);
    if (!report.ok()) return report;
    RETURN_IF_ERROR(postgres->SetPhase(PostgresPhase::kOpen));
    return report;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteStore> source, SqliteStore::Open(files.database));
  const auto check_empty = [&] {
    const absl::StatusOr<bool> empty = postgres->IsEmpty();
    return !empty.ok() || *empty
               ? empty.status()
               : absl::FailedPreconditionError(
                     "--postgres: holds ledgers that servers take charges for; want an empty "
                     "database");
  };
  if (phase == PostgresPhase::kMoved) {
    // A database with another ledger stays unchanged, and so does its phase.
    RETURN_IF_ERROR(Compare(*source, *postgres).status());
  }
  if (phase == PostgresPhase::kOpen) {
    RETURN_IF_ERROR(check_empty());
  }
  if (phase != PostgresPhase::kReceiving) {
    RETURN_IF_ERROR(postgres->SetPhase(PostgresPhase::kReceiving));
  }
  if (phase == PostgresPhase::kOpen) {
    // A server may have created a ledger before it saw the phase. Nothing was copied yet.
    if (absl::Status status = check_empty(); !status.ok()) {
      postgres->SetPhase(PostgresPhase::kOpen).IgnoreError();
      return status;
    }
  }
  absl::StatusOr<MigrationReport> report = Copy(*source, *postgres, progress);
  if (!report.ok()) return report;
  // Retire the source first, under its lock: for a moment nobody takes charges, but never both.
  absl::Status status = CheckLogIsEmpty(files.database);
  if (status.ok()) status = Retire(files.database, files.moved);
  if (status.ok()) status = postgres->SetPhase(PostgresPhase::kOpen);
  if (!status.ok()) return status;
  return report;
}

absl::StatusOr<MigrationReport> MigrateToSqlite(const PostgresStore::Options& options,
                                                const std::string& data_dir,
                                                MigrationProgress progress) {
  const Files files(data_dir);
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresStore> postgres, OpenForMigration(options));
  ASSIGN_OR_RETURN(const PostgresPhase phase, postgres->Phase());
  if (phase == PostgresPhase::kReceiving) {
    return absl::FailedPreconditionError(
        "--postgres: a migration to it has not come to its end; run that one again first");
  }
  if (Exists(files.database)) {
    return absl::FailedPreconditionError(files.database +
                                         ": there is a ledger already; want a folder without one");
  }
  ASSIGN_OR_RETURN(const bool empty, postgres->IsEmpty());
  if (empty) return absl::NotFoundError("--postgres: there is no ledger to move");
  if (Exists(files.taken_back)) {
    return absl::FailedPreconditionError(
        data_dir + ": its migration is being taken back; finish that first, by --to postgres");
  }
  if (phase == PostgresPhase::kMoved && !Exists(files.unfinished)) {
    return absl::NotFoundError(
        "--postgres: its ledgers have been moved already, or are being moved to another folder");
  }
  absl::Status status = MakeDataDirectory(data_dir);
  if (!status.ok()) return status;
  // Create the file before the phase changes: without it no later call could continue.
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteStore> sqlite,
                   SqliteStore::Open(files.unfinished, {.create = phase == PostgresPhase::kOpen}));
  // After an interruption the phase is not written again, only made durable: somebody may have
  // taken the migration back since.
  status = phase == PostgresPhase::kOpen ? postgres->SetPhase(PostgresPhase::kMoved)
                                         : postgres->ConfirmPhase();
  if (!status.ok()) return status;
  absl::StatusOr<MigrationReport> report = Copy(*postgres, *sqlite, progress);
  if (!report.ok()) return report;
  sqlite.reset();
  status = CheckLogIsEmpty(files.unfinished);
  // Remove an anchor whose database is no longer here.
  std::error_code ignored;
  if (status.ok() && !Exists(files.database)) {
    std::filesystem::remove(AnchorOf(files.database), ignored);
  }
  // A server may have begun a ledger here before the unfinished file existed. It is not replaced.
  if (status.ok()) status = Rename(files.unfinished, files.database, RENAME_NOREPLACE);
  if (!status.ok()) return status;
  return report;
}

}  // namespace epsledger::storage
