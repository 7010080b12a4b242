#include "client/trainers/data/idx_images.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers {
namespace {

constexpr int64_t kImageMagic = 0x803;
constexpr int64_t kLabelMagic = 0x801;
constexpr int64_t kImageHeaderBytes = 16;
constexpr int64_t kLabelHeaderBytes = 8;

absl::Status Error(const std::string& name, int64_t offset, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": offset ", offset, ": ", what));
}

// Reads four bytes at `offset`. REQUIRES: they exist.
int64_t BigEndian(std::string_view bytes, int64_t offset) {
  int64_t number = 0;
  for (int64_t i = offset; i < offset + 4; ++i) {
    number = number * 256 + static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  }
  return number;
}

absl::Status CheckHeader(std::string_view bytes, int64_t header_bytes, int64_t magic,
                         const std::string& name) {
  if (static_cast<int64_t>(bytes.size()) < header_bytes) {
    return Error(name, static_cast<int64_t>(bytes.size()),
                 absl::StrCat("header: got the end of the file, want ", header_bytes, " bytes"));
  }
  if (BigEndian(bytes, 0) != magic) {
    return Error(name, 0,
                 absl::StrCat("magic number: got ", BigEndian(bytes, 0), ", want ", magic));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(std::string_view bytes, int64_t want, const std::string& name) {
  const auto got = static_cast<int64_t>(bytes.size());
  if (got == want) return absl::OkStatus();
  return Error(name, got < want ? got : want,
               absl::StrCat("data: got a file of ", got, " bytes, want the ", want,
                            " that its header promises"));
}

}  // namespace

absl::StatusOr<LabeledImages> ParseIdx(std::string_view image_bytes, std::string_view label_bytes,
                                       int class_count, const IdxNames& names) {
  absl::Status status = CheckHeader(image_bytes, kImageHeaderBytes, kImageMagic, names.images);
  if (!status.ok()) return status;
  status = CheckHeader(label_bytes, kLabelHeaderBytes, kLabelMagic, names.labels);
  if (!status.ok()) return status;

  const int64_t count = BigEndian(image_bytes, 4);
  if (count < 1) return Error(names.images, 4, "count: got 0, want at least 1");
  const int64_t height = BigEndian(image_bytes, 8);
  const int64_t width = BigEndian(image_bytes, 12);
  for (const bool is_height : {true, false}) {
    const int64_t side = is_height ? height : width;
    if (side < 1 || side > kMaxImageSide) {
      return Error(names.images, is_height ? 8 : 12,
                   absl::StrCat(is_height ? "height" : "width", ": got ", side,
                                ", want one in [1, ", kMaxImageSide, "]"));
    }
  }
  // At most 2^32 2^12 2^12 = 2^56: no overflow.
  const int64_t pixel_count = count * height * width;
  if (pixel_count > kMaxPixelCount) {
    return Error(names.images, 4,
                 absl::StrCat("count: got ", count, " images of ", height, " x ", width,
                              ", want at most ", kMaxPixelCount, " pixels"));
  }
  status = CheckSize(image_bytes, kImageHeaderBytes + pixel_count, names.images);
  if (!status.ok()) return status;
  if (BigEndian(label_bytes, 4) != count) {
    return Error(names.labels, 4,
                 absl::StrCat("count: got ", BigEndian(label_bytes, 4), ", want the ", count,
                              " of ", names.images));
  }
  status = CheckSize(label_bytes, kLabelHeaderBytes + count, names.labels);
  if (!status.ok()) return status;

  LabeledImages images{.channels = 1, .height = height, .width = width, .pixels = {}, .labels = {}};
  images.labels.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t offset = kLabelHeaderBytes + i;
    const int label = static_cast<unsigned char>(label_bytes[static_cast<size_t>(offset)]);
    if (label >= class_count) {
      return Error(names.labels, offset,
                   absl::StrCat("label: got ", label, ", want one in [0, ", class_count - 1, "]"));
    }
    images.labels.push_back(label);
  }
  using Bytes = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic>;
  const auto* const data =
      reinterpret_cast<const unsigned char*>(image_bytes.data()) + kImageHeaderBytes;
  images.pixels = Eigen::Map<const Bytes>(data, height * width, count).cast<float>() / 255.0F;
  return images;
}

}  // namespace epsledger::trainers
