#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_

#include <Eigen/Core>

#include "client/trainers/network/product_kernels.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::fsdp {

// The product that takes most of a step's time, with the instructions of a kernel. The build is for
// plain x86-64, and a compiler option for wider vectors would change the alignment of Eigen's types
// everywhere. These sums are exact, so the instructions do not change the result.

// Adds left r^T to the matrix at `sum` (column-major, left.rows() x right.rows()), where column i
// of r is column i of `right` times right_scales[i], rounded toward zero, or zero if the scale is
// 0. Equal to any other way of adding where every partial sum is an integer below 2^53. REQUIRES:
// an available kernel but kEigen; equal numbers of columns and of scales.
void AddWideProduct(network::ProductKernel kernel, const Eigen::MatrixXd& left,
                    const network::Matrix<float>& right, const Eigen::ArrayXd& right_scales,
                    double* sum);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_
