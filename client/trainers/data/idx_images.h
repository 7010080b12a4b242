#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_IDX_IMAGES_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_IDX_IMAGES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers {

// The largest height and width that are read, and the most pixels of one set (1 GiB as floats). A
// forged count must not allocate more than the file holds.
inline constexpr int64_t kMaxImageSide = 4096;
inline constexpr int64_t kMaxPixelCount = int64_t{1} << 28;

// The names of the two parts in messages.
struct IdxNames {
  std::string images;
  std::string labels;
};

// Reads a set of gray images in the IDX format of MNIST: two files, all numbers big-endian.
//
//   images: u32 0x00000803, u32 count, u32 height, u32 width, count * height * width bytes
//   labels: u32 0x00000801, u32 count, count bytes
//
// A pixel is its byte / 255. Both parts must have the same count, at least 1, every label must be
// below `class_count`, and nothing may follow the last byte. O(bytes).
// INVALID_ARGUMENT "file: offset N: field: got ..., want ..." for the first error.
absl::StatusOr<LabeledImages> ParseIdx(std::string_view image_bytes, std::string_view label_bytes,
                                       int class_count, const IdxNames& names);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_IDX_IMAGES_H_
