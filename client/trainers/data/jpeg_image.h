#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_JPEG_IMAGE_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_JPEG_IMAGE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace epsledger::trainers {

// Decodes color JPEG images of one size. Not thread-safe.
class JpegDecoder {
 public:
  // REQUIRES: height and width in [1, 65500].
  JpegDecoder(int height, int width);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Writes the samples of the JPEG file to `channels`: red[y * width + x], then green, then blue,
  // each height * width floats in [0, 1]. INVALID_ARGUMENT if the bytes are not a JPEG image of
  // this size in three channels, or if libjpeg finds them truncated or corrupt (even where it can
  // repair them); the content of `channels` is then unusable.
  absl::Status Decode(const std::string& file, float* channels);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_JPEG_IMAGE_H_
