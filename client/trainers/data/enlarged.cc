#include "client/trainers/data/enlarged.h"

#include <algorithm>

#include "client/trainers/data/cubic.h"

namespace epsledger::trainers {

LabeledImages Enlarged(const LabeledImages& images, Eigen::Index side) {
  LabeledImages large{
      .channels = images.channels,
      .height = side,
      .width = side,
      .pixels = Eigen::MatrixXf::Zero(images.channels * side * side, images.pixels.cols()),
      .labels = images.labels};
  const Eigen::Index inside = 5 * side / 7;
  const Eigen::Index border = (side - inside) / 2;
  const double step = static_cast<double>(images.height) / static_cast<double>(inside);
  // Pixels are squares: the middle of the first one is half a pixel from the edge.
  const auto place = [&](Eigen::Index i) { return (static_cast<double>(i) + 0.5) * step - 0.5; };
  for (Eigen::Index record = 0; record < images.pixels.cols(); ++record) {
    for (Eigen::Index channel = 0; channel < images.channels; ++channel) {
      const float* pixels =
          images.pixels.col(record).data() + channel * images.height * images.width;
      const Plane plane{pixels, images.height, images.width};
      float* out = large.pixels.col(record).data() + channel * side * side;
      for (Eigen::Index y = 0; y < inside; ++y) {
        for (Eigen::Index x = 0; x < inside; ++x) {
          const double value = std::clamp(CubicValue(plane, place(y), place(x)), 0.0, 1.0);
          out[(border + y) * side + border + x] = static_cast<float>(value);
        }
      }
    }
  }
  return large;
}

}  // namespace epsledger::trainers
