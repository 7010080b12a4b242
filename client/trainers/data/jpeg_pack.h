#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_JPEG_PACK_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_JPEG_PACK_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers {

struct JpegPack {
  LabeledImages train;
  LabeledImages test;
};

// The shape and classes that every image of a pack must have.
struct JpegPackShape {
  int height = 0;
  int width = 0;
  int class_count = 0;
};

// Reads a pack of color JPEG images that share one header. All numbers little-endian:
//
//   "CJPK", u32 train count, u32 test count, u16 header length, header (from SOI to SOS), then for
//   each image, train first: u8 label, u16 length, `length` bytes of scan, which end in FF D9
//
// An image is the JPEG file header + scan, decoded by libjpeg to red, green and blue, each byte
// / 255. (Other decoders can differ by a few 255ths: the standard does not fix the inverse
// transform.) Every image must have the shape; a scan that libjpeg has to repair is an error;
// nothing may follow the last image. O(pixels).
// INVALID_ARGUMENT "name: offset N: field: got ..., want ..." for the first error.
absl::StatusOr<JpegPack> ParseJpegPack(std::string_view bytes, const JpegPackShape& shape,
                                       const std::string& name);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_JPEG_PACK_H_
