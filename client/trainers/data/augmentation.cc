#include "client/trainers/data/augmentation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/trainers/data/content_hash.h"
#include "client/trainers/data/cubic.h"

namespace epsledger::trainers {
namespace {

// Must change with the definition of the views.
constexpr char kViews[] = "augmented view 1";

// How the content of an image is moved.
struct Motion {
  double angle = 0;
  double size = 1;
  double down = 0;
  double right = 0;
};

// Returns the `index`-th number in [-1, 1) of 64 hexadecimal digits, each from 13 of them.
double Symmetric(const std::string& digest, size_t index) {
  const uint64_t bits = std::stoull(digest.substr(13 * index, 13), nullptr, 16);
  return static_cast<double>(bits) * 0x1p-51 - 1;
}

Motion MotionOf(const LabeledImages& images, Eigen::Index record, int number) {
  const std::string_view pixels(reinterpret_cast<const char*>(images.pixels.col(record).data()),
                                static_cast<size_t>(images.pixels.rows()) * sizeof(float));
  const std::string digest =
      BytesSha256(absl::StrCat(kViews, " ", number, " ", images.channels, " ", images.height, " ",
                               images.width, " ", BytesSha256(pixels)));
  return {.angle = kLargestRotation * Symmetric(digest, 0),
          .size = 1 + kLargestScaling * Symmetric(digest, 1),
          .down = kLargestShift * static_cast<double>(images.height) * Symmetric(digest, 2),
          .right = kLargestShift * static_cast<double>(images.width) * Symmetric(digest, 3)};
}

void Move(const Motion& motion, const Plane& plane, float* out) {
  const double middle_y = static_cast<double>(plane.height - 1) / 2;
  const double middle_x = static_cast<double>(plane.width - 1) / 2;
  const double cosine = std::cos(motion.angle) / motion.size;
  const double sine = std::sin(motion.angle) / motion.size;
  for (Eigen::Index y = 0; y < plane.height; ++y) {
    for (Eigen::Index x = 0; x < plane.width; ++x) {
      const double dy = static_cast<double>(y) - middle_y - motion.down;
      const double dx = static_cast<double>(x) - middle_x - motion.right;
      const double value =
          CubicValue(plane, middle_y + cosine * dy - sine * dx, middle_x + sine * dy + cosine * dx);
      out[y * plane.width + x] = static_cast<float>(std::clamp(value, 0.0, 1.0));
    }
  }
}

}  // namespace

LabeledImages AugmentedView(const LabeledImages& images, int number) {
  LabeledImages view = images;
  const Eigen::Index size = images.height * images.width;
  for (Eigen::Index record = 0; record < images.pixels.cols(); ++record) {
    if (!images.pixels.col(record).allFinite()) {
      view.pixels.col(record).setConstant(std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    const Motion motion = MotionOf(images, record, number);
    for (Eigen::Index channel = 0; channel < images.channels; ++channel) {
      const float* pixels = images.pixels.col(record).data() + channel * size;
      Move(motion, {pixels, images.height, images.width},
           view.pixels.col(record).data() + channel * size);
    }
  }
  return view;
}

}  // namespace epsledger::trainers
