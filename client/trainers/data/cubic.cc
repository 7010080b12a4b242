#include "client/trainers/data/cubic.h"

#include <cmath>

namespace epsledger::trainers {

std::array<double, 4> CubicWeights(double t) {
  return {t * (-0.5 + t * (1 - 0.5 * t)), 1 + t * t * (-2.5 + 1.5 * t),
          t * (0.5 + t * (2 - 1.5 * t)), t * t * (-0.5 + 0.5 * t)};
}

double CubicValueInRow(const Plane& plane, Eigen::Index y, double x) {
  const float* row = plane.pixels + y * plane.width;
  const double column = std::floor(x);
  const std::array<double, 4> weights = CubicWeights(x - column);
  double value = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const Eigen::Index place = static_cast<Eigen::Index>(column) - 1 + i;
    if (place < 0 || place >= plane.width) continue;
    value += weights[static_cast<size_t>(i)] * static_cast<double>(row[place]);
  }
  return value;
}

double CubicValue(const Plane& plane, double y, double x) {
  const double row = std::floor(y);
  const std::array<double, 4> weights = CubicWeights(y - row);
  double value = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const Eigen::Index place = static_cast<Eigen::Index>(row) - 1 + i;
    if (place < 0 || place >= plane.height) continue;
    value += weights[static_cast<size_t>(i)] * CubicValueInRow(plane, place, x);
  }
  return value;
}

}  // namespace epsledger::trainers
