#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_

#include <Eigen/Core>

namespace epsledger::trainers::fsdp {

// The one product where most of a step's time goes, with the widest vectors of the processor it
// runs on. The build is for plain x86-64, and a compiler option for wider ones would change the
// alignment of Eigen's types for all; these sums are exact, so that no other result can come of it.

// True if this processor has AVX2 and fused multiply-add.
bool HasWideProduct();

// Adds left right^T to the matrix at `sum` (column-major, left.rows() x right.rows()). Equal to any
// other way of adding where every partial sum is an integer below 2^53.
// REQUIRES: HasWideProduct(); equal numbers of columns.
void AddWideProduct(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right, double* sum);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_WIDE_PRODUCT_H_
