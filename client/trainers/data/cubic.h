#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_CUBIC_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_CUBIC_H_

#include <Eigen/Core>
#include <array>

namespace epsledger::trainers {

// Keys' weights (a = -1/2) of the samples at -1, 0, 1, 2 for a position `t` in [0, 1). They sum to
// 1, and at t = 0 only the sample at 0 counts.
std::array<double, 4> CubicWeights(double t);

// One channel of an image, row by row.
struct Plane {
  const float* pixels;
  Eigen::Index height;
  Eigen::Index width;
};

// Returns the value of row `y` at the position `x`, between samples by Keys' cubic; black outside.
double CubicValueInRow(const Plane& plane, Eigen::Index y, double x);

// Returns the value at (y, x) by Keys' cubic in both directions; black outside. It can be outside
// the range of the pixels.
double CubicValue(const Plane& plane, double y, double x);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_CUBIC_H_
