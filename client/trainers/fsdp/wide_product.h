#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_

#include <Eigen/Core>

namespace epsledger::trainers::fsdp {

// The product that takes most of a step's time, with AVX2 where the processor has it. The build is
// for plain x86-64, and a compiler option for wider vectors would change the alignment of Eigen's
// types everywhere. These sums are exact, so the instructions do not change the result.

// True if this processor has AVX2 and fused multiply-add.
bool HasWideProduct();

// Adds left right^T to the matrix at `sum` (column-major, left.rows() x right.rows()). Equal to any
// other way of adding where every partial sum is an integer below 2^53.
// REQUIRES: HasWideProduct(); equal numbers of columns.
void AddWideProduct(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right, double* sum);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_
