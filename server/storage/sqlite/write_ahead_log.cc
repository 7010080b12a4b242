#include "server/storage/sqlite/write_ahead_log.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"

namespace epsledger::storage {
namespace {

// https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log".
constexpr int64_t kHeaderSize = 32;
constexpr int64_t kFrameHeaderSize = 24;
constexpr uint32_t kWalMagic = 0x377f0682;  // the last bit: checksums are of big-endian words
constexpr uint32_t kFormat = 3007000;

uint32_t BigEndian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The running checksum of header and frames.
class Checksum {
 public:
  explicit Checksum(bool big_endian) : big_endian_(big_endian) {}

  void Add(const std::string& bytes, size_t from, size_t size) {
    for (size_t at = from; at < from + size; at += 8) {
      first_ += Word(bytes, at) + second_;
      second_ += Word(bytes, at + 4) + first_;
    }
  }
  bool Is(const std::string& bytes, size_t at) const {
    return first_ == BigEndian(bytes, at) && second_ == BigEndian(bytes, at + 4);
  }

 private:
  uint32_t Word(const std::string& bytes, size_t at) const {
    const uint32_t word = BigEndian(bytes, at);
    return big_endian_ ? word : __builtin_bswap32(word);
  }

  bool big_endian_;
  uint32_t first_ = 0;
  uint32_t second_ = 0;
};

absl::StatusOr<int64_t> SizeOf(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  if (const int code = file->pMethods->xFileSize(file, &size); code != SQLITE_OK) {
    return absl::UnavailableError(
        absl::StrFormat("ledger database: %s (%d)", sqlite3_errstr(code), code));
  }
  return size;
}

absl::Status ReadAt(sqlite3_file* file, int64_t offset, std::string* bytes) {
  const int code =
      file->pMethods->xRead(file, bytes->data(), static_cast<int>(bytes->size()), offset);
  if (code == SQLITE_OK) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrFormat("ledger database: %s (%d)", sqlite3_errstr(code), code));
}

bool IsPageSize(int64_t size) { return size >= 512 && size <= 65536 && (size & (size - 1)) == 0; }

// The header of a frame; the page follows.
struct Frame {
  uint32_t page = 0;
  uint32_t size_after_commit = 0;  // of the database in pages; 0 if no commit ends here
  uint64_t salt = 0;
};
Frame FrameAt(const std::string& bytes) {
  return {.page = BigEndian(bytes, 0),
          .size_after_commit = BigEndian(bytes, 4),
          .salt = uint64_t{BigEndian(bytes, 8)} << 32 | BigEndian(bytes, 12)};
}

int64_t OffsetOf(int64_t frame, int64_t page_size) {
  return kHeaderSize + frame * (kFrameHeaderSize + page_size);
}

// For a log whose header cannot be read: OK if its first generation of frames holds no more than
// the database.
absl::Status CheckHeadless(sqlite3_file* log, int64_t log_size, sqlite3_file* database) {
  ASSIGN_OR_RETURN(const int64_t database_size, SizeOf(database));
  int64_t page_size = 0;
  std::string start(100, '\0');
  if (database_size >= static_cast<int64_t>(start.size())) {
    RETURN_IF_ERROR(ReadAt(database, 0, &start));
    page_size = BigEndian(start, 14) & 0xffff;  // bytes 16 and 17
    if (page_size == 1) page_size = 65536;
  }
  const absl::Status damaged = absl::DataLossError(
      "the write-ahead log is damaged at byte 0, its header: commits behind it may be gone");
  if (!IsPageSize(page_size)) {
    return log_size > OffsetOf(0, 512) + kFrameHeaderSize ? damaged : absl::OkStatus();
  }
  std::map<uint32_t, int64_t> last;  // the frame of each page, up to the last commit
  std::map<uint32_t, int64_t> open;  // since then
  std::string bytes(static_cast<size_t>(kFrameHeaderSize), '\0');
  uint64_t salt = 0;
  for (int64_t frame = 0; OffsetOf(frame + 1, page_size) <= log_size; ++frame) {
    RETURN_IF_ERROR(ReadAt(log, OffsetOf(frame, page_size), &bytes));
    const Frame at = FrameAt(bytes);
    if (at.page == 0) continue;
    if (salt == 0) salt = at.salt;
    if (at.salt != salt) break;
    open[at.page] = frame;
    if (at.size_after_commit == 0) continue;
    for (const auto& [page, where] : open) last[page] = where;
    open.clear();
  }
  std::string in_log(static_cast<size_t>(page_size), '\0');
  std::string in_database = in_log;
  for (const auto& [page, frame] : last) {
    const int64_t offset = (int64_t{page} - 1) * page_size;
    if (offset + page_size > database_size) return damaged;
    absl::Status status = ReadAt(log, OffsetOf(frame, page_size) + kFrameHeaderSize, &in_log);
    if (status.ok()) status = ReadAt(database, offset, &in_database);
    if (!status.ok()) return status;
    if (in_log != in_database) return damaged;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckWriteAheadLog(sqlite3_file* log, sqlite3_file* database) {
  ASSIGN_OR_RETURN(const int64_t size, SizeOf(log));
  if (size < kHeaderSize) return absl::OkStatus();
  std::string header(static_cast<size_t>(kHeaderSize), '\0');
  RETURN_IF_ERROR(ReadAt(log, 0, &header));
  const uint32_t magic = BigEndian(header, 0);
  const int64_t page_size = BigEndian(header, 8);
  Checksum checksum((magic & 1) != 0);
  checksum.Add(header, 0, 24);
  if ((magic & ~1U) != kWalMagic || BigEndian(header, 4) != kFormat || !IsPageSize(page_size) ||
      !checksum.Is(header, 24)) {
    return CheckHeadless(log, size, database);
  }
  const uint64_t salt = uint64_t{BigEndian(header, 16)} << 32 | BigEndian(header, 20);

  std::string bytes(static_cast<size_t>(kFrameHeaderSize + page_size), '\0');
  int64_t bad = -1;           // the first frame that SQLite does not believe
  int64_t commits_after = 0;  // from there on
  for (int64_t frame = 0; OffsetOf(frame + 1, page_size) <= size; ++frame) {
    RETURN_IF_ERROR(ReadAt(log, OffsetOf(frame, page_size), &bytes));
    const Frame at = FrameAt(bytes);
    if (bad < 0) {
      checksum.Add(bytes, 0, 8);
      checksum.Add(bytes, static_cast<size_t>(kFrameHeaderSize), static_cast<size_t>(page_size));
      if (at.page == 0 || at.salt != salt || !checksum.Is(bytes, 16)) bad = frame;
    }
    if (bad < 0 || at.salt != salt || at.size_after_commit == 0) continue;
    if (++commits_after == 2) {
      return absl::DataLossError(absl::StrFormat(
          "the write-ahead log is damaged at frame %d (byte %d): durable commits lie behind it and "
          "can no longer be read",
          bad + 1, OffsetOf(bad, page_size)));
    }
  }
  return absl::OkStatus();
}

}  // namespace epsledger::storage
