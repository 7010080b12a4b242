#include "client/trainers/data/jpeg_image.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE to be declared
#include <vector>

#include <jpeglib.h>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers {
namespace {

// An error handler must not return to libjpeg, and the default one ends the process: jump instead.
struct JumpingErrors {
  jpeg_error_mgr manager;  // first, so that its address is that of the whole
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void JumpOut(j_common_ptr info) {
  auto* const errors = reinterpret_cast<JumpingErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

// Corrupt data that libjpeg would repair: an image of a known set has none.
void JumpOutOnWarning(j_common_ptr info, int level) {
  if (level < 0) JumpOut(info);
}

enum class Outcome { kDecoded, kWrongShape, kBroken };

}  // namespace

struct JpegDecoder::State {
  int height;
  int width;
  std::vector<unsigned char> row;  // red, green, blue, red, ...
  JumpingErrors errors;
  jpeg_decompress_struct info;

  // Nothing here or below has a destructor that longjmp could skip.
  Outcome Decode(const unsigned char* bytes, size_t size, float* channels) {
    if (setjmp(errors.jump) != 0) {
      jpeg_abort_decompress(&info);
      return Outcome::kBroken;
    }
    jpeg_mem_src(&info, bytes, size);
    jpeg_read_header(&info, TRUE);
    if (info.image_height != static_cast<JDIMENSION>(height) ||
        info.image_width != static_cast<JDIMENSION>(width) || info.num_components != 3) {
      jpeg_abort_decompress(&info);
      return Outcome::kWrongShape;
    }
    info.out_color_space = JCS_RGB;
    info.dct_method = JDCT_ISLOW;  // the most exact of the integer transforms
    jpeg_start_decompress(&info);
    const ptrdiff_t positions = static_cast<ptrdiff_t>(height) * width;
    while (info.output_scanline < info.output_height) {
      float* out = channels + static_cast<ptrdiff_t>(info.output_scanline) * width;
      JSAMPROW row_pointer = row.data();
      if (jpeg_read_scanlines(&info, &row_pointer, 1) != 1) break;
      const unsigned char* sample = row.data();
      for (int x = 0; x < width; ++x, ++out) {
        for (int channel = 0; channel < 3; ++channel) {
          out[channel * positions] = static_cast<float>(*sample++) / 255.0F;
        }
      }
    }
    jpeg_finish_decompress(&info);
    return Outcome::kDecoded;
  }
};

JpegDecoder::JpegDecoder(int height, int width) : state_(std::make_unique<State>()) {
  state_->height = height;
  state_->width = width;
  state_->row.resize(static_cast<size_t>(width) * 3);
  state_->info.err = jpeg_std_error(&state_->errors.manager);
  state_->errors.manager.error_exit = JumpOut;
  state_->errors.manager.emit_message = JumpOutOnWarning;
  state_->errors.message[0] = '\0';
  jpeg_create_decompress(&state_->info);
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

absl::Status JpegDecoder::Decode(const std::string& file, float* channels) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(file.data());
  switch (state_->Decode(bytes, file.size(), channels)) {
    case Outcome::kDecoded:
      return absl::OkStatus();
    case Outcome::kWrongShape:
      return absl::InvalidArgumentError(
          absl::StrCat("got a JPEG image of ", state_->info.image_width, " x ",
                       state_->info.image_height, " with ", state_->info.num_components,
                       " channels, want ", state_->width, " x ", state_->height, " with 3"));
    case Outcome::kBroken:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("got bytes that are no whole JPEG image (", state_->errors.message, ")"));
}

}  // namespace epsledger::trainers
