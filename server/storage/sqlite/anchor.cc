#include "server/storage/sqlite/anchor.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/sha256.h"

namespace epsledger::storage {
namespace {

constexpr char kMagic[] = "epslanc1";
constexpr size_t kMagicSize = sizeof(kMagic) - 1;
constexpr size_t kContentSize = kMagicSize + 16 + 3 * 8 + 32;
constexpr size_t kRecordSize = kContentSize + 32;
// Between two records: no sector of a disk holds both.
constexpr int64_t kPlaceSize = 4096;

void PutNumber(int64_t value, std::string* bytes) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes->push_back(static_cast<char>(static_cast<uint64_t>(value) >> shift));
  }
}

int64_t NumberAt(const char* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(value);
}

template <class Bytes>
void Put(const Bytes& from, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(from.data()), from.size());
}

std::string Encode(const Anchor& anchor) {
  std::string bytes(kMagic, kMagicSize);
  Put(anchor.incarnation, &bytes);
  PutNumber(anchor.commit, &bytes);
  PutNumber(anchor.entry_count, &bytes);
  PutNumber(anchor.entry_id, &bytes);
  Put(anchor.hash, &bytes);
  Put(core::Sha256({bytes}), &bytes);
  return bytes;
}

std::optional<Anchor> Decode(const std::string& bytes) {
  const std::string_view content(bytes.data(), kContentSize);
  if (content.substr(0, kMagicSize) != kMagic ||
      core::BytesOf(core::Sha256({content})) != std::string_view(bytes).substr(kContentSize)) {
    return std::nullopt;
  }
  Anchor anchor;
  const char* at = bytes.data() + kMagicSize;
  std::memcpy(anchor.incarnation.data(), at, anchor.incarnation.size());
  at += anchor.incarnation.size();
  anchor.commit = NumberAt(at);
  anchor.entry_count = NumberAt(at + 8);
  anchor.entry_id = NumberAt(at + 16);
  std::memcpy(anchor.hash.data(), at + 24, anchor.hash.size());
  return anchor;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AnchorFile>> AnchorFile::Open(sqlite3_vfs* vfs,
                                                             const std::string& path, bool create) {
  std::unique_ptr<AnchorFile> anchor(new AnchorFile());
  anchor->path_ = path;
  anchor->path_.append(2, '\0');  // as SQLite's file systems want names
  int exists = 0;
  if (vfs->xAccess(vfs, anchor->path_.c_str(), SQLITE_ACCESS_EXISTS, &exists) != SQLITE_OK) {
    return absl::UnavailableError(path + ": cannot be looked for");
  }
  if (exists == 0 && !create) return absl::NotFoundError(path + ": there is no such file");
  anchor->allocated_ = std::make_unique<std::byte[]>(static_cast<size_t>(vfs->szOsFile));
  auto* file = reinterpret_cast<sqlite3_file*>(anchor->allocated_.get());
  // Of the kinds of files that SQLite knows it is like a log: its name is synced with it.
  const int flags = SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  if (const int code = vfs->xOpen(vfs, anchor->path_.c_str(), file, flags, nullptr);
      code != SQLITE_OK) {
    return absl::UnavailableError(
        absl::StrFormat("%s: cannot be opened: %s (%d)", path, sqlite3_errstr(code), code));
  }
  anchor->file_ = file;
  return anchor;
}

AnchorFile::~AnchorFile() {
  if (file_ != nullptr && file_->pMethods != nullptr) file_->pMethods->xClose(file_);
}

absl::StatusOr<std::optional<Anchor>> AnchorFile::Read() {
  const auto failed = [&](int code) {
    return absl::UnavailableError(
        absl::StrFormat("%s: cannot be read: %s (%d)", path_.c_str(), sqlite3_errstr(code), code));
  };
  sqlite3_int64 size = 0;
  if (const int code = file_->pMethods->xFileSize(file_, &size); code != SQLITE_OK) {
    return failed(code);
  }
  if (size == 0) return std::nullopt;
  std::optional<Anchor> newest;
  for (int64_t place = 0; place < 2 * kRecords; ++place) {
    std::string bytes(kRecordSize, '\0');
    const int code = file_->pMethods->xRead(file_, bytes.data(), static_cast<int>(bytes.size()),
                                            place * kPlaceSize);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return failed(code);
    const std::optional<Anchor> anchor = Decode(bytes);
    if (anchor.has_value() && (!newest.has_value() || anchor->commit > newest->commit)) {
      newest = anchor;
      group_ = place < kRecords ? 1 : 0;
    }
  }
  if (!newest.has_value()) {
    return absl::DataLossError(
        absl::StrCat(path_.c_str(),
                     ": is damaged: nothing tells whether the database has lost its last commits"));
  }
  return newest;
}

absl::Status AnchorFile::Write(const Anchor& anchor) {
  const std::string bytes = Encode(anchor);
  const int code =
      file_->pMethods->xWrite(file_, bytes.data(), static_cast<int>(bytes.size()),
                              (kRecords * group_ + anchor.commit % kRecords) * kPlaceSize);
  if (code == SQLITE_OK) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrFormat("%s: cannot be written: %s (%d)", path_.c_str(), sqlite3_errstr(code), code));
}

absl::Status AnchorFile::Sync() {
  const int code = file_->pMethods->xSync(file_, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrFormat("%s: cannot be synced: %s (%d)", path_.c_str(), sqlite3_errstr(code), code));
}

std::string AnchorOf(const std::string& path) { return path + "-anchor"; }

}  // namespace epsledger::storage
