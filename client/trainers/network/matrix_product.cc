#include "client/trainers/network/matrix_product.h"

#include "client/trainers/network/product_kernels.h"

namespace epsledger::trainers::network {
namespace {

template <class T>
void ByEigen(const Factor<T>& left, const Factor<T>& right, Eigen::Map<Matrix<T>>* result) {
  if (left.is_transposed && right.is_transposed) {
    result->noalias() = left.matrix.transpose() * right.matrix.transpose();
  } else if (left.is_transposed) {
    result->noalias() = left.matrix.transpose() * right.matrix;
  } else if (right.is_transposed) {
    result->noalias() = left.matrix * right.matrix.transpose();
  } else {
    result->noalias() = left.matrix * right.matrix;
  }
}

void Multiply(const Factor<double>& left, const Factor<double>& right,
              Eigen::Map<Matrix<double>>* result) {
  ByEigen(left, right, result);
}

StridedMatrix Strided(const Factor<float>& factor) {
  const Eigen::Index leading = factor.matrix.rows();
  return factor.is_transposed
             ? StridedMatrix{.data = factor.matrix.data(),
                             .row_stride = leading,
                             .column_stride = 1}
             : StridedMatrix{
                   .data = factor.matrix.data(), .row_stride = 1, .column_stride = leading};
}

void Multiply(const Factor<float>& left, const Factor<float>& right,
              Eigen::Map<Matrix<float>>* result) {
  static const ProductKernel kernel = AvailableKernels().back();
  if (kernel == ProductKernel::kEigen) {
    ByEigen(left, right, result);
    return;
  }
  SetProductByKernel(kernel, Strided(left), Strided(right), result->rows(), result->cols(),
                     left.cols(), result->data());
}

}  // namespace

template <class T>
void SetProduct(const Factor<T>& left, const Factor<T>& right, Eigen::Map<Matrix<T>> result) {
  if (result.size() == 0) return;
  if (left.cols() == 0) {
    result.setZero();
    return;
  }
  Multiply(left, right, &result);
}

template void SetProduct(const Factor<float>&, const Factor<float>&, Eigen::Map<Matrix<float>>);
template void SetProduct(const Factor<double>&, const Factor<double>&, Eigen::Map<Matrix<double>>);

}  // namespace epsledger::trainers::network
