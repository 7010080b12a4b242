#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_MATRIX_PRODUCT_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_MATRIX_PRODUCT_H_

#include <Eigen/Core>

#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// A matrix in memory, column-major and without gaps, or its transpose.
template <class T>
struct Factor {
  Factor(const Eigen::Map<const Matrix<T>>& map) : matrix(map) {}  // NOLINT: a map is a factor
  Factor(const Eigen::Map<Matrix<T>>& map)                         // NOLINT
      : matrix(map.data(), map.rows(), map.cols()) {}
  Factor(const Matrix<T>& whole)  // NOLINT
      : matrix(whole.data(), whole.rows(), whole.cols()) {}

  Factor Transposed() const {
    Factor transposed = *this;
    transposed.is_transposed = !is_transposed;
    return transposed;
  }
  Eigen::Index rows() const { return is_transposed ? matrix.cols() : matrix.rows(); }
  Eigen::Index cols() const { return is_transposed ? matrix.rows() : matrix.cols(); }

  Eigen::Map<const Matrix<T>> matrix;
  bool is_transposed = false;
};

// Sets *result = left * right, whatever *result held (even NaN), on this thread. Float products use
// the widest vectors that the processor has, detected when the program runs (product_kernels.h):
// one program is fast on new machines and also runs on old ones. Double uses Eigen. A row of `left`
// and a column of `right` meet in one entry only: a NaN stays in its row or column. The same shapes
// and values give the same bits on processors with the same vectors, at any memory address.
// REQUIRES: fitting shapes; no overlap.
template <class T>
void SetProduct(const Factor<T>& left, const Factor<T>& right, Eigen::Map<Matrix<T>> result);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_MATRIX_PRODUCT_H_
