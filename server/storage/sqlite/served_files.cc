#include "server/storage/sqlite/served_files.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/storage/sqlite/handles.h"
#include "server/storage/sqlite/lost_commits.h"

namespace epsledger::storage {
namespace {

// The time by which the anchor may be behind after a power loss. A killed process leaves it exact.
constexpr std::chrono::milliseconds kAnchorLag(250);

absl::Status NoteIncarnation(sqlite3* database, const core::IncarnationId& incarnation,
                             const std::string& reason, bool* sync_failed) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(
      database,
      "INSERT INTO incarnations (incarnation, begin_time, reason) VALUES (?1, unixepoch(), ?2)", -1,
      &statement, nullptr);
  const Statement insert(statement);
  if (code == SQLITE_OK) {
    sqlite3_bind_blob(statement, 1, incarnation.data(), static_cast<int>(incarnation.size()),
                      SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, reason.data(), static_cast<int>(reason.size()), SQLITE_STATIC);
    code = sqlite3_step(statement);
  }
  if (code == SQLITE_DONE) return absl::OkStatus();
  *sync_failed |= sqlite3_extended_errcode(database) == SQLITE_IOERR_FSYNC;
  return absl::UnavailableError(
      absl::StrCat("ledger database: noting its incarnation: ", sqlite3_errmsg(database)));
}

sqlite3_vfs* VfsOf(sqlite3* database) {
  sqlite3_vfs* vfs = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  return vfs;
}

FileIdentity IdentityOf(const std::string& path) {
  struct statx file {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &file) != 0) return {};
  FileIdentity identity{.number = static_cast<int64_t>(file.stx_ino)};
  if ((file.stx_mask & STATX_BTIME) != 0) {
    identity.birth_nanoseconds = file.stx_btime.tv_sec * 1'000'000'000 + file.stx_btime.tv_nsec;
  }
  return identity;
}

}  // namespace

absl::StatusOr<std::string> ServedFiles::WhyToBegin(sqlite3* database, const std::string& path,
                                                    bool with_names) {
  ASSIGN_OR_RETURN(const std::vector<core::Incarnation> incarnations, IncarnationsOf(database));
  if (incarnations.empty()) return "first served";
  ASSIGN_OR_RETURN(const std::unique_ptr<AnchorFile> file,
                   AnchorFile::Open(VfsOf(database), AnchorOf(path), /*create=*/false));
  ASSIGN_OR_RETURN(const std::optional<Anchor> anchor, file->Read());
  const FileIdentity served = anchor.value_or(Anchor()).database;
  if (!with_names || served == FileIdentity() || served == IdentityOf(path)) return "";
  return "its files were copied or restored: the database is another file than the one that was "
         "served";
}

absl::StatusOr<std::unique_ptr<ServedFiles>> ServedFiles::Keep(sqlite3* database,
                                                               const std::string& path,
                                                               const std::string& begun_because,
                                                               bool with_names, bool* sync_failed) {
  ASSIGN_OR_RETURN(const std::vector<core::Incarnation> incarnations, IncarnationsOf(database));
  ASSIGN_OR_RETURN(const Anchor present, PresentState(database));
  std::unique_ptr<ServedFiles> served(new ServedFiles());
  ASSIGN_OR_RETURN(std::unique_ptr<AnchorFile> file,
                   AnchorFile::Open(VfsOf(database), AnchorOf(path), /*create=*/true));
  served->file_ = std::move(file);
  const absl::StatusOr<std::optional<Anchor>> before = served->file_->Read();
  // Fail if records exist but cannot be read: they would stay the newest permanently.
  if (!before.ok() && !absl::IsDataLoss(before.status())) return before.status();
  Anchor& anchor = served->anchor_;
  anchor = present;
  anchor.commit = before.ok() && before->has_value() ? (*before)->commit : 0;
  if (with_names) anchor.database = IdentityOf(path);
  const bool is_first = incarnations.empty();
  if (begun_because.empty()) {
    anchor.incarnation = incarnations.back().id;
  } else {
    sqlite3_randomness(static_cast<int>(anchor.incarnation.size()), anchor.incarnation.data());
  }
  // The anchor of a first incarnation is written before the incarnation, so that a database with an
  // incarnation has an anchor. The anchor of a later incarnation is written after it: until then
  // the anchor names an older incarnation.
  if (!is_first && !begun_because.empty()) {
    RETURN_IF_ERROR(NoteIncarnation(database, anchor.incarnation, begun_because, sync_failed));
  }
  if (absl::Status status = served->Renew(); !status.ok()) {
    *sync_failed |= served->sync_failed();
    return status;
  }
  if (is_first) {
    RETURN_IF_ERROR(NoteIncarnation(database, anchor.incarnation, begun_because, sync_failed));
  }
  if (with_names) {
    RETURN_IF_ERROR(served->NoteNames(path));
  }
  return served;
}

ServedFiles::~ServedFiles() {
  if (changes_ >= 0) close(changes_);
  if (file_ == nullptr) return;
  // The anchor does not name a failed commit, which may not be durable.
  file_->Sync().IgnoreError();
}

void ServedFiles::Appended(int64_t entry_id, const core::Hash& hash) {
  anchor_.entry_id = entry_id;
  anchor_.hash = hash;
  ++anchor_.entry_count;
}

absl::Status ServedFiles::Committed() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = now - synced_ >= kAnchorLag;
  absl::Status status = CheckNames(is_due);
  if (status.ok()) status = WriteAnchor();
  if (status.ok() && is_due) {
    status = file_->Sync();
    synced_ = now;
  }
  return status;
}

absl::Status ServedFiles::TakeBack(sqlite3* database) {
  ASSIGN_OR_RETURN(const Anchor present, PresentState(database));
  anchor_.entry_count = present.entry_count;
  anchor_.entry_id = present.entry_id;
  anchor_.hash = present.hash;
  return absl::OkStatus();
}

absl::Status ServedFiles::Renew() {
  absl::Status status = CheckNames(/*is_due=*/true);
  for (int64_t record = 0; status.ok() && record < AnchorFile::kRecords; ++record) {
    status = WriteAnchor();
    if (status.ok()) status = file_->Sync();
  }
  synced_ = std::chrono::steady_clock::now();
  return status;
}

absl::Status ServedFiles::WriteAnchor() {
  ++anchor_.commit;
  return file_->Write(anchor_);
}

absl::Status ServedFiles::NoteNames(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  // Watch before the names are read, so that every later change is reported.
  changes_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (changes_ >= 0 &&
      inotify_add_watch(changes_, folder.c_str(),
                        IN_MOVE | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_DELETE_SELF) < 0) {
    close(std::exchange(changes_, -1));  // then every commit checks the names
  }
  for (const std::string& name : {path, path + "-wal", path + "-anchor", folder}) {
    struct stat file;
    // The folder may be reached through a link.
    if ((name == folder ? stat : lstat)(name.c_str(), &file) != 0) {
      return absl::FailedPreconditionError(name + ": was removed while it was opened");
    }
    names_.push_back({name, file.st_dev, file.st_ino});
  }
  return absl::OkStatus();
}

bool ServedFiles::NamesMayHaveChanged() {
  if (changes_ < 0) return true;
  alignas(inotify_event) char events[4096];
  bool changed = false;
  while (read(changes_, events, sizeof events) > 0) changed = true;
  return changed;
}

absl::Status ServedFiles::CheckNames(bool is_due) {
  if (names_.empty() || (!NamesMayHaveChanged() && !is_due && names_are_good_)) {
    return absl::OkStatus();
  }
  names_are_good_ = false;
  for (const NamedFile& name : names_) {
    struct stat file;
    const bool is_folder = &name == &names_.back();
    if ((is_folder ? stat : lstat)(name.path.c_str(), &file) != 0 || file.st_ino != name.number ||
        file.st_dev != name.device) {
      return absl::UnavailableError(absl::StrCat(
          "ledger database: ", name.path,
          " was moved, replaced or removed while the server had it open; put it back"));
    }
  }
  names_are_good_ = true;
  return absl::OkStatus();
}

}  // namespace epsledger::storage
