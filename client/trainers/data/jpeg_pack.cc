#include "client/trainers/data/jpeg_pack.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/idx_images.h"
#include "client/trainers/data/jpeg_image.h"

namespace epsledger::trainers {
namespace {

constexpr std::string_view kMagic = "CJPK";
constexpr int64_t kChannels = 3;
// Label, length, and the two bytes that end a scan.
constexpr int64_t kSmallestImageBytes = 5;

// Reads fields from the front and tracks its position.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  absl::Status Error(int64_t offset, const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": offset ", offset, ": ", what));
  }

  absl::StatusOr<std::string_view> Bytes(int64_t count, const char* field) {
    if (count > remaining()) {
      return Error(offset_, absl::StrCat(field, ": got the ", remaining(),
                                         " bytes before the end of the file, want ", count));
    }
    const std::string_view taken =
        bytes_.substr(static_cast<size_t>(offset_), static_cast<size_t>(count));
    offset_ += count;
    return taken;
  }

  absl::StatusOr<int64_t> Number(int byte_count, const char* field) {
    ASSIGN_OR_RETURN(std::string_view bytes, Bytes(byte_count, field));
    int64_t number = 0;
    for (int i = byte_count - 1; i >= 0; --i) {
      number = number * 256 + static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
    }
    return number;
  }

  int64_t offset() const { return offset_; }
  int64_t remaining() const { return static_cast<int64_t>(bytes_.size()) - offset_; }

 private:
  std::string_view bytes_;
  const std::string& name_;
  int64_t offset_ = 0;
};

absl::StatusOr<LabeledImages> ReadImages(int64_t count, const JpegPackShape& shape,
                                         const std::string& header, Reader* reader) {
  LabeledImages images{.channels = kChannels,
                       .height = shape.height,
                       .width = shape.width,
                       .pixels = Eigen::MatrixXf(kChannels * shape.height * shape.width, count),
                       .labels = {}};
  images.labels.reserve(static_cast<size_t>(count));
  JpegDecoder decoder(shape.height, shape.width);
  std::string file = header;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = reader->offset();
    ASSIGN_OR_RETURN(int64_t label, reader->Number(1, "label"));
    if (label >= shape.class_count) {
      return reader->Error(start, absl::StrCat("label: got ", label, ", want one in [0, ",
                                               shape.class_count - 1, "]"));
    }
    ASSIGN_OR_RETURN(int64_t length, reader->Number(2, "length of the scan"));
    const int64_t scan_start = reader->offset();
    ASSIGN_OR_RETURN(std::string_view scan, reader->Bytes(length, "scan"));
    file.resize(header.size());
    file.append(scan);
    absl::Status decoded = decoder.Decode(file, images.pixels.col(i).data());
    if (!decoded.ok()) {
      return reader->Error(scan_start, absl::StrCat("scan: ", std::string(decoded.message())));
    }
    images.labels.push_back(static_cast<int>(label));
  }
  return images;
}

}  // namespace

absl::StatusOr<JpegPack> ParseJpegPack(std::string_view bytes, const JpegPackShape& shape,
                                       const std::string& name) {
  if (shape.height < 1 || shape.height > kMaxImageSide || shape.width < 1 ||
      shape.width > kMaxImageSide || shape.class_count < 1 || shape.class_count > 256) {
    return absl::InvalidArgumentError(absl::StrCat(
        "JpegPackShape: got ", shape.height, " x ", shape.width, " and ", shape.class_count,
        " classes, want sides in [1, ", kMaxImageSide, "] and [1, 256] classes"));
  }
  Reader reader(bytes, name);
  ASSIGN_OR_RETURN(std::string_view magic, reader.Bytes(4, "magic"));
  if (magic != kMagic) return reader.Error(0, "magic: got other bytes, want \"CJPK\"");
  int64_t counts[2];
  for (int64_t& count : counts) {
    const int64_t offset = reader.offset();
    ASSIGN_OR_RETURN(int64_t number, reader.Number(4, "count"));
    count = number;
    if (count < 1) return reader.Error(offset, "count: got 0, want at least 1");
    // Checked before any allocation: the file must be large enough for this many images.
    const int64_t most = reader.remaining() / kSmallestImageBytes;
    if (count > most || count * kChannels * shape.height * shape.width > kMaxPixelCount) {
      return reader.Error(
          offset, absl::StrCat("count: got ", count, ", want at most ", most, " in a file of ",
                               bytes.size(), " bytes and ", kMaxPixelCount, " samples"));
    }
  }
  ASSIGN_OR_RETURN(int64_t header_length, reader.Number(2, "length of the header"));
  ASSIGN_OR_RETURN(std::string_view header, reader.Bytes(header_length, "header"));

  ASSIGN_OR_RETURN(LabeledImages train, ReadImages(counts[0], shape, std::string(header), &reader));
  ASSIGN_OR_RETURN(LabeledImages test, ReadImages(counts[1], shape, std::string(header), &reader));
  if (reader.remaining() != 0) {
    return reader.Error(reader.offset(),
                        absl::StrCat("end: got ", reader.remaining(), " more bytes, want none"));
  }
  return JpegPack{.train = std::move(train), .test = std::move(test)};
}

}  // namespace epsledger::trainers
