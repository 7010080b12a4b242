#ifndef EPSLEDGER_CLIENT_TRAINERS_SCATTERING_PLANE_FOURIER_H_
#define EPSLEDGER_CLIENT_TRAINERS_SCATTERING_PLANE_FOURIER_H_

#include <Eigen/Core>

namespace epsledger::trainers::scattering {

// The two-dimensional discrete Fourier transform of stacks of small real planes, as products with
// dense matrices. At 36 x 36 a product needs about ten times the operations of a fast transform,
// but it runs at the speed of a matrix product and is a page of code.
//
// A stack of `count` planes is a matrix of side rows and count * side columns; entry (u, v) of
// plane p is at row u, column p + count * v. Its spectrum is a matrix of half() = side / 2 + 1 rows
// (the frequencies k = 0, ..., side / 2 along u; the others are conjugates) and 2 * count * side
// columns: the real part at (k, l) of plane p is at row k, column p + count * l, the imaginary part
// count * side columns on. So both directions are plain matrix products on the same memory.
class PlaneFourier {
 public:
  // REQUIRES: side even and >= 2.
  explicit PlaneFourier(int side);

  int side() const { return side_; }
  int half() const { return side_ / 2 + 1; }

  // *spectrum = the transform of every plane: sum over (u, v) of
  // plane(u, v) exp(-2 pi i (k u + l v) / side). `work` is scratch.
  void Forward(const Eigen::MatrixXf& planes, Eigen::MatrixXf* work,
               Eigen::MatrixXf* spectrum) const;

  // The inverse of Forward. Ignores imaginary parts at the frequencies where the transform of a
  // real plane is real.
  void Inverse(const Eigen::MatrixXf& spectrum, Eigen::MatrixXf* work,
               Eigen::MatrixXf* planes) const;

 private:
  int side_;
  Eigen::MatrixXf real_from_rows_;       // half x side: cosines
  Eigen::MatrixXf imaginary_from_rows_;  // half x side: minus sines
  Eigen::MatrixXf forward_columns_;      // 2 side x 2 side: the complex transform along v
  Eigen::MatrixXf inverse_columns_;      // 2 side x 2 side: its inverse, without 1 / side
  Eigen::MatrixXf rows_from_real_;       // side x half, with 1 / side^2
  Eigen::MatrixXf rows_from_imaginary_;  // side x half, with 1 / side^2
};

}  // namespace epsledger::trainers::scattering

#endif  // EPSLEDGER_CLIENT_TRAINERS_SCATTERING_PLANE_FOURIER_H_
