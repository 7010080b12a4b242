#include "server/storage/sqlite/served_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/handles.h"
#include "server/storage/sqlite/lost_commits.h"

namespace epsledger::storage {
namespace {

// For so long a power loss may take back what the anchor knows. A killed process takes nothing.
constexpr std::chrono::milliseconds kAnchorLag(250);
// No file system's clock is coarser.
constexpr time_t kTickSeconds = 3;

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
  const absl::StatusOr<std::vector<core::Incarnation>> incarnations = IncarnationsOf(database);
  if (!incarnations.ok()) return incarnations.status();
  if (incarnations->empty()) return "first served";
  const absl::StatusOr<std::unique_ptr<AnchorFile>> file =
      AnchorFile::Open(VfsOf(database), AnchorOf(path), /*create=*/false);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::optional<Anchor>> anchor = (*file)->Read();
  if (!anchor.ok()) return anchor.status();
  const FileIdentity served = anchor->value_or(Anchor()).database;
  if (!with_names || served == FileIdentity() || served == IdentityOf(path)) return "";
  return "its files were copied or restored: the database is another file than the one that was "
         "served";
}

absl::StatusOr<std::unique_ptr<ServedFiles>> ServedFiles::Keep(sqlite3* database,
                                                               const std::string& path,
                                                               const std::string& begun_because,
                                                               bool with_names, bool* sync_failed) {
  const absl::StatusOr<std::vector<core::Incarnation>> incarnations = IncarnationsOf(database);
  if (!incarnations.ok()) return incarnations.status();
  const absl::StatusOr<Anchor> present = PresentState(database);
  if (!present.ok()) return present.status();
  std::unique_ptr<ServedFiles> served(new ServedFiles());
  absl::StatusOr<std::unique_ptr<AnchorFile>> file =
      AnchorFile::Open(VfsOf(database), AnchorOf(path), /*create=*/true);
  if (!file.ok()) return file.status();
  served->file_ = *std::move(file);
  const absl::StatusOr<std::optional<Anchor>> before = served->file_->Read();
  // Records that are there and were not read would stay the newest for good.
  if (!before.ok() && !absl::IsDataLoss(before.status())) return before.status();
  Anchor& anchor = served->anchor_;
  anchor = *present;
  anchor.commit = before.ok() && before->has_value() ? (*before)->commit : 0;
  if (with_names) anchor.database = IdentityOf(path);
  const bool is_first = incarnations->empty();
  if (begun_because.empty()) {
    anchor.incarnation = incarnations->back().id;
  } else {
    sqlite3_randomness(static_cast<int>(anchor.incarnation.size()), anchor.incarnation.data());
  }
  // The anchor of a first incarnation is made before it, so that a database with an incarnation has
  // an anchor. Of a later one it is made after it: the anchor before it names an older one.
  if (!is_first && !begun_because.empty()) {
    absl::Status status = NoteIncarnation(database, anchor.incarnation, begun_because, sync_failed);
    if (!status.ok()) return status;
  }
  if (absl::Status status = served->Renew(); !status.ok()) {
    *sync_failed |= served->sync_failed();
    return status;
  }
  if (is_first) {
    absl::Status status = NoteIncarnation(database, anchor.incarnation, begun_because, sync_failed);
    if (!status.ok()) return status;
  }
  if (with_names) {
    if (absl::Status status = served->NoteNames(path); !status.ok()) return status;
  }
  return served;
}

ServedFiles::~ServedFiles() {
  if (file_ == nullptr) return;
  // Of a commit that failed the anchor says nothing: it may not be durable.
  file_->Sync().IgnoreError();
}

void ServedFiles::Appended(int64_t entry_id, const core::Hash& hash) {
  anchor_.entry_id = entry_id;
  anchor_.hash = hash;
  ++anchor_.entry_count;
}

absl::Status ServedFiles::Committed() {
  absl::Status status = CheckNames();
  if (status.ok()) status = WriteAnchor();
  const auto now = std::chrono::steady_clock::now();
  if (status.ok() && now - synced_ >= kAnchorLag) {
    status = file_->Sync();
    synced_ = now;
  }
  return status;
}

absl::Status ServedFiles::TakeBack(sqlite3* database) {
  const absl::StatusOr<Anchor> present = PresentState(database);
  if (!present.ok()) return present.status();
  anchor_.entry_count = present->entry_count;
  anchor_.entry_id = present->entry_id;
  anchor_.hash = present->hash;
  return absl::OkStatus();
}

absl::Status ServedFiles::Renew() {
  absl::Status status = CheckNames();
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
  for (const char* ending : {"", "-wal", "-anchor"}) {
    struct stat file;
    if (lstat((path + ending).c_str(), &file) != 0) {
      return absl::FailedPreconditionError(path + ending + ": was removed while it was opened");
    }
    names_.push_back({path + ending, file.st_dev, file.st_ino});
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  folder_.path = folder.empty() ? "." : folder;
  return absl::OkStatus();
}

absl::Status ServedFiles::CheckNames() {
  if (names_.empty()) return absl::OkStatus();
  struct stat folder;
  const bool is_there = stat(folder_.path.c_str(), &folder) == 0;
  const NamedFile now{folder_.path, folder.st_dev, folder.st_ino};
  if (is_there && now == folder_ && folder.st_ctim.tv_sec == folder_changed_.tv_sec &&
      folder.st_ctim.tv_nsec == folder_changed_.tv_nsec) {
    return absl::OkStatus();  // no name in it has changed since they were looked at
  }
  for (const NamedFile& name : names_) {
    struct stat file;
    if (lstat(name.path.c_str(), &file) != 0 || file.st_ino != name.number ||
        file.st_dev != name.device) {
      return absl::UnavailableError(absl::StrCat(
          "ledger database: ", name.path,
          " was moved, replaced or removed while the server had it open; put it back and start "
          "the server anew"));
    }
  }
  // A change in the same tick of the file system's clock would go unseen: until that is long over,
  // every look is a whole one.
  timespec clock;
  clock_gettime(CLOCK_REALTIME, &clock);
  if (is_there && clock.tv_sec - folder.st_ctim.tv_sec > kTickSeconds) {
    folder_ = now;
    folder_changed_ = folder.st_ctim;
  }
  return absl::OkStatus();
}

}  // namespace epsledger::storage
