#include "server/storage/sqlite/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "server/core/tenant.h"
#include "server/storage/data_directory.h"
#include "server/storage/export_format.h"
#include "server/storage/regular_file.h"
#include "server/storage/sqlite/anchor.h"
#include "server/storage/sqlite/checkpoint_gate.h"
#include "server/storage/sqlite/inspection.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace epsledger::storage {
namespace {

namespace fs = std::filesystem;

constexpr char kHeads[] = "heads";
constexpr char kStatementKey[] = "statement.key";
constexpr char kUnfinished[] = ".unfinished";
constexpr size_t kLogHeaderSize = 32;

absl::Status Failed(const std::string& path, const char* doing) {
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be ", doing, ": ", std::strerror(errno)));
}

// A file descriptor that is closed with this object.
class File {
 public:
  static absl::StatusOr<File> Open(const std::string& path, int flags) {
    ASSIGN_OR_RETURN(const int fd, OpenRegularFile(path, flags));
    return File(fd);
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&&) = delete;

  // Returns up to `size` bytes from `offset`; fewer at the end of the file.
  ssize_t Read(char* bytes, size_t size, off_t offset) const {
    size_t done = 0;
    while (done < size) {
      const ssize_t count =
          pread(fd_, bytes + done, size - done, offset + static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return -1;
      if (count == 0) break;
      done += static_cast<size_t>(count);
    }
    return static_cast<ssize_t>(done);
  }
  bool Write(const char* bytes, size_t size, off_t offset) const {
    for (size_t done = 0; done < size;) {
      const ssize_t count =
          pwrite(fd_, bytes + done, size - done, offset + static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      done += static_cast<size_t>(count);
    }
    return true;
  }
  bool Truncate() const { return ftruncate(fd_, 0) == 0; }
  bool Sync() const { return fsync(fd_) == 0; }

 private:
  explicit File(int fd) : fd_(fd) {}
  int fd_;
};

absl::Status CopyBytes(const File& from, const File& to, const std::string& path) {
  std::string chunk(1 << 20, '\0');
  for (off_t offset = 0;;) {
    const ssize_t count = from.Read(chunk.data(), chunk.size(), offset);
    if (count < 0) return Failed(path, "read");
    if (count == 0) return absl::OkStatus();
    if (!to.Write(chunk.data(), static_cast<size_t>(count), offset)) {
      return Failed("the copy of " + path, "written");
    }
    offset += count;
  }
}

absl::Status CopyFile(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const File source, File::Open(from, O_RDONLY));
  ASSIGN_OR_RETURN(const File copy, File::Open(to, O_WRONLY | O_CREAT | O_TRUNC));
  RETURN_IF_ERROR(CopyBytes(source, copy, from));
  return copy.Sync() ? absl::OkStatus() : Failed(to, "synced");
}

// While checkpoints are blocked, the log grows at its end, or restarts once, and then its header
// changes first. So a copy between two reads of the same header is one log.
absl::Status CopyLog(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const File source, File::Open(from, O_RDONLY));
  ASSIGN_OR_RETURN(const File copy, File::Open(to, O_WRONLY | O_CREAT));
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::array<std::array<char, kLogHeaderSize>, 2> headers{};
    if (source.Read(headers[0].data(), kLogHeaderSize, 0) < 0) return Failed(from, "read");
    if (!copy.Truncate()) return Failed(to, "written");
    RETURN_IF_ERROR(CopyBytes(source, copy, from));
    if (source.Read(headers[1].data(), kLogHeaderSize, 0) < 0) return Failed(from, "read");
    if (headers[0] == headers[1]) return copy.Sync() ? absl::OkStatus() : Failed(to, "synced");
  }
  return absl::UnavailableError(from + ": began anew again and again while it was copied");
}

// Copies database, log and anchor as of one moment. They hold everything that was acknowledged
// before the call.
absl::Status CopyDatabase(const std::string& from, const std::string& to) {
  const absl::StatusOr<std::unique_ptr<CheckpointGate>> gate = CheckpointGate::Open(from);
  if (absl::IsNotFound(gate.status())) {
    // No server of this release has served from it. An older server holds it alone, or no server
    // does.
    if (const auto verified = VerifySqlite(from); !verified.ok()) return verified.status();
  } else if (!gate.ok()) {
    return gate.status();
  } else
    RETURN_IF_ERROR((*gate)->HoldToCopy());
  // Copy the anchor first: the other two then hold everything that it names.
  absl::Status status;
  if (gate.ok()) status = CopyFile(AnchorOf(from), AnchorOf(to));
  if (status.ok()) status = CopyFile(from, to);
  if (status.ok()) status = CopyLog(from + "-wal", to + "-wal");
  return status;
}

// Moves the log of a copy into its database, and replays it.
absl::StatusOr<std::vector<LedgerReport>> FinishAndVerify(const std::string& database) {
  {
    ASSIGN_OR_RETURN(const auto store, SqliteStore::Open(database, {.create = false}));
    RETURN_IF_ERROR(store->Damage());
    RETURN_IF_ERROR(store->Writable());
  }
  absl::StatusOr<std::vector<LedgerReport>> reports = VerifySqlite(database);
  if (!reports.ok()) return reports.status();
  for (const LedgerReport& report : *reports) {
    if (!report.fault.has_value()) continue;
    return absl::DataLossError(absl::StrCat(
        report.root_id.empty() ? "the database" : NameOfLedger(report.root_id), ": ",
        report.fault->sequence > 0 ? absl::StrCat("entry ", report.fault->sequence, ": ") : "",
        report.fault->problem));
  }
  // Remove the files that SQLite made for reading.
  std::error_code error;
  if (fs::file_size(database + "-wal", error) == 0) fs::remove(database + "-wal", error);
  fs::remove(database + "-shm", error);
  return reports;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  ASSIGN_OR_RETURN(const File file, File::Open(path, O_WRONLY | O_CREAT | O_TRUNC));
  return file.Write(text.data(), text.size(), 0) && file.Sync() ? absl::OkStatus()
                                                                : Failed(path, "written");
}

// Returns the last part of a path.
std::string NameOf(const std::string& path) {
  return (fs::path(path) / ".").lexically_normal().parent_path().filename().string();
}

// True if `path` is the folder or below it.
bool IsWithin(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(fs::absolute(path, error), error) / "";
  const fs::path outer = fs::weakly_canonical(fs::absolute(folder, error), error) / "";
  return absl::StartsWith(inner.string(), outer.string());
}

// Creates a folder that only its owner can access.
absl::Status MakeFolder(const std::string& path) {
  return mkdir(path.c_str(), S_IRWXU) == 0 ? absl::OkStatus() : Failed(path, "made");
}

absl::Status Rename(const std::string& from, const std::string& to) {
  return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : Failed(from, "given its name");
}

// Gives the files to the owner of `owner_of` if this process may; otherwise they stay its own.
void GiveTo(const std::string& owner_of, const std::string& folder) {
  struct stat owner {};
  if (geteuid() != 0 || stat(owner_of.c_str(), &owner) != 0) return;
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
    if (lchown(file.path().c_str(), owner.st_uid, owner.st_gid) != 0) continue;
  }
}

// Refuses what is no whole backup, and a folder that has a ledger.
absl::Status CheckMayRestore(const std::string& backup, const std::string& data_dir) {
  std::error_code error;
  if (!fs::exists(absl::StrCat(backup, "/", kHeads), error) ||
      !fs::exists(DatabaseIn(backup), error)) {
    return absl::NotFoundError(backup + ": is no backup of `epsledgerd backup`");
  }
  if (IsWithin(data_dir, backup)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data-dir: got ", data_dir, ", which is in the backup"));
  }
  if (absl::EndsWith(NameOf(backup), kUnfinished)) {
    return absl::FailedPreconditionError(backup + ": was interrupted, and is no whole backup");
  }
  const std::string database = DatabaseIn(data_dir);
  for (const std::string& file : {database, database + "-wal", AnchorOf(database)}) {
    if (!fs::exists(file, error)) continue;
    return absl::AlreadyExistsError(file +
                                    ": belongs to a ledger; move it away first, and keep it");
  }
  return absl::OkStatus();
}

absl::Status CopyBackup(const std::string& backup, const std::string& folder) {
  std::error_code error;
  for (const char* ending : {"", "-wal", "-anchor"}) {
    const std::string file = DatabaseIn(backup) + ending;
    if (fs::exists(file, error)) RETURN_IF_ERROR(CopyFile(file, DatabaseIn(folder) + ending));
  }
  const std::string key = absl::StrCat("/", kStatementKey);
  if (!fs::exists(backup + key, error)) return absl::OkStatus();
  return CopyFile(backup + key, folder + key);
}

// Replays the copied ledgers, and compares them with the heads of the backup.
absl::StatusOr<std::vector<LedgerReport>> VerifyRestored(const std::string& backup,
                                                         const std::string& database) {
  ASSIGN_OR_RETURN(std::vector<LedgerReport> ledgers, FinishAndVerify(database));
  ASSIGN_OR_RETURN(const std::string noted, ReadRegularFile(absl::StrCat(backup, "/", kHeads)));
  if (const std::string found = HeadLines(ledgers); found != noted) {
    return absl::DataLossError(
        absl::StrCat(backup, ": has not the heads that it was taken with, but:\n", found));
  }
  return ledgers;
}

// Moves the files to the data directory. The ledger file comes last: until it exists, the folder
// does not count as a ledger.
absl::Status MoveTo(const std::string& data_dir, const std::string& folder) {
  const std::string key = absl::StrCat("/", kStatementKey);
  std::error_code error;
  if (fs::exists(folder + key, error)) RETURN_IF_ERROR(Rename(folder + key, data_dir + key));
  RETURN_IF_ERROR(Rename(AnchorOf(DatabaseIn(folder)), AnchorOf(DatabaseIn(data_dir))));
  RETURN_IF_ERROR(SyncDirectory(data_dir));
  RETURN_IF_ERROR(Rename(DatabaseIn(folder), DatabaseIn(data_dir)));
  return SyncDirectory(data_dir);
}

}  // namespace

std::string NameOfLedger(const std::string& root_id) {
  return root_id == core::kAccessRootId ? "tokens and denials" : "budgets/" + root_id;
}

std::string HeadLines(const std::vector<LedgerReport>& ledgers) {
  std::string lines;
  for (const LedgerReport& report : ledgers) {
    absl::StrAppend(&lines, NameOfLedger(report.root_id), ": verified, ", report.head.sequence,
                    " entries, head ", ToHex(report.head.hash), ", Merkle root ",
                    ToHex(report.merkle_root), "\n");
  }
  return lines.empty() ? "no ledgers\n" : lines;
}

absl::StatusOr<VerifiedCopy> BackUp(const std::string& data_dir, const std::string& folder) {
  const std::string source = DatabaseIn(data_dir);
  std::error_code error;
  if (!fs::exists(source, error)) return absl::NotFoundError(source + ": there is no ledger");
  if (folder.empty()) return absl::InvalidArgumentError("--to: is empty, want a folder");
  if (IsWithin(folder, data_dir)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--to: got ", folder, ", which is in the data directory; want another disk"));
  }
  RETURN_IF_ERROR(MakeDataDirectory(folder));
  VerifiedCopy copy{.folder = absl::StrCat(
                        folder, "/epsledger-",
                        absl::FormatTime("%Y%m%dT%H%M%E9SZ", absl::Now(), absl::UTCTimeZone())),
                    .ledgers = {}};
  const std::string unfinished = copy.folder + kUnfinished;
  RETURN_IF_ERROR(MakeFolder(unfinished));
  const auto remove = absl::MakeCleanup([&] { fs::remove_all(unfinished, error); });
  RETURN_IF_ERROR(CopyDatabase(source, DatabaseIn(unfinished)));
  const std::string key = absl::StrCat(data_dir, "/", kStatementKey);
  if (fs::exists(key, error)) {
    RETURN_IF_ERROR(CopyFile(key, absl::StrCat(unfinished, "/", kStatementKey)));
  }
  ASSIGN_OR_RETURN(std::vector<LedgerReport> ledgers, FinishAndVerify(DatabaseIn(unfinished)));
  copy.ledgers = std::move(ledgers);
  absl::Status status = WriteFile(absl::StrCat(unfinished, "/", kHeads), HeadLines(copy.ledgers));
  if (status.ok()) status = SyncDirectory(unfinished);
  if (status.ok()) status = Rename(unfinished, copy.folder);
  if (status.ok()) status = SyncDirectory(folder);
  if (!status.ok()) return status;
  return copy;
}

absl::StatusOr<VerifiedCopy> Restore(const std::string& backup, const std::string& data_dir) {
  RETURN_IF_ERROR(CheckMayRestore(backup, data_dir));
  // An existing folder (a mount point, or one that a package created) keeps its owner and mode.
  RETURN_IF_ERROR(MakeDataDirectory(data_dir));
  const std::string unfinished = data_dir + "/restore.unfinished";
  std::error_code error;
  fs::remove_all(unfinished, error);
  RETURN_IF_ERROR(MakeFolder(unfinished));
  const auto remove = absl::MakeCleanup([&] { fs::remove_all(unfinished, error); });
  RETURN_IF_ERROR(CopyBackup(backup, unfinished));
  const std::string copied = DatabaseIn(unfinished);
  ASSIGN_OR_RETURN(std::vector<LedgerReport> ledgers, VerifyRestored(backup, copied));
  {
    ASSIGN_OR_RETURN(const auto store,
                     SqliteStore::Open(copied, {.create = false,
                                                .anchored = true,
                                                .begin_because = absl::StrCat(
                                                    "restored from the backup ", NameOf(backup))}));
    RETURN_IF_ERROR(store->Writable());
  }
  GiveTo(data_dir, unfinished);
  RETURN_IF_ERROR(MoveTo(data_dir, unfinished));
  return VerifiedCopy{.folder = data_dir, .ledgers = std::move(ledgers)};
}

}  // namespace epsledger::storage
