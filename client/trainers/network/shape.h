#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_SHAPE_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_SHAPE_H_

#include <Eigen/Core>

namespace epsledger::trainers::network {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// The shape of one sample. A batch is a column-major Matrix with one column a sample; entry
// (channel * height + y) * width + x of a column is the value of `channel` at (y, x). A plain
// vector of n features is {n, 1, 1}; a layer that needs a vector reads any shape as one.
struct Shape {
  Eigen::Index channels = 1;
  Eigen::Index height = 1;
  Eigen::Index width = 1;

  Eigen::Index positions() const { return height * width; }
  Eigen::Index size() const { return channels * positions(); }

  friend bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_SHAPE_H_
