#include "server/storage/sqlite/anchor.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/core/sha256.h"

namespace epsledger::storage {
namespace {

// Records of the first kind do not identify the file of the database.
constexpr std::string_view kFirstMagic = "epslanc1";
constexpr std::string_view kMagic = "epslanc2";
constexpr size_t kFirstContentSize = kMagic.size() + 16 + 3 * 8 + 32;
constexpr size_t kContentSize = kFirstContentSize + 2 * 8;
constexpr size_t kRecordSize = kContentSize + 32;
// The distance between two records, so that no disk sector holds both.
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
  std::string bytes(kMagic);
  Put(anchor.incarnation, &bytes);
  PutNumber(anchor.commit, &bytes);
  PutNumber(anchor.entry_count, &bytes);
  PutNumber(anchor.entry_id, &bytes);
  Put(anchor.hash, &bytes);
  PutNumber(anchor.database.number, &bytes);
  PutNumber(anchor.database.birth_nanoseconds, &bytes);
  Put(core::Sha256({bytes}), &bytes);
  return bytes;
}

std::optional<Anchor> Decode(std::string_view bytes) {
  const std::string_view magic = bytes.substr(0, kMagic.size());
  if (magic != kMagic && magic != kFirstMagic) return std::nullopt;
  const size_t size = magic == kMagic ? kContentSize : kFirstContentSize;
  const core::Hash sum = core::Sha256({bytes.substr(0, size)});
  if (core::BytesOf(sum) != bytes.substr(size, sum.size())) return std::nullopt;
  Anchor anchor;
  const char* at = bytes.data() + kMagic.size();
  std::memcpy(anchor.incarnation.data(), at, anchor.incarnation.size());
  at += anchor.incarnation.size();
  anchor.commit = NumberAt(at);
  anchor.entry_count = NumberAt(at + 8);
  anchor.entry_id = NumberAt(at + 16);
  at += 24;
  std::memcpy(anchor.hash.data(), at, anchor.hash.size());
  at += anchor.hash.size();
  if (magic == kMagic) anchor.database = {NumberAt(at), NumberAt(at + 8)};
  return anchor;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AnchorFile>> AnchorFile::Open(sqlite3_vfs* vfs,
                                                             const std::string& path, bool create) {
  ASSIGN_OR_RETURN(std::unique_ptr<VfsFile> file, VfsFile::Open(vfs, path, create));
  return std::unique_ptr<AnchorFile>(new AnchorFile(std::move(file)));
}

absl::StatusOr<std::optional<Anchor>> AnchorFile::Read() {
  ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  if (size == 0) return std::nullopt;
  std::optional<Anchor> newest;
  for (int64_t place = 0; place < 2 * kRecords; ++place) {
    ASSIGN_OR_RETURN(const std::string bytes, file_->Read(kRecordSize, place * kPlaceSize));
    const std::optional<Anchor> anchor = Decode(bytes);
    if (anchor.has_value() && (!newest.has_value() || anchor->commit > newest->commit)) {
      newest = anchor;
      group_ = place < kRecords ? 1 : 0;
    }
  }
  if (!newest.has_value()) {
    return absl::DataLossError(
        absl::StrCat(file_->path(),
                     ": is damaged: nothing tells whether the database has lost its last commits"));
  }
  return newest;
}

absl::Status AnchorFile::Write(const Anchor& anchor) {
  return file_->Write(Encode(anchor), (kRecords * group_ + anchor.commit % kRecords) * kPlaceSize);
}

std::string AnchorOf(const std::string& path) { return path + "-anchor"; }

}  // namespace epsledger::storage
