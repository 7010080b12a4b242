#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_PRODUCT_KERNELS_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_PRODUCT_KERNELS_H_

#include <Eigen/Core>
#include <vector>

namespace epsledger::trainers::network {

// The instructions that compute a product of floats.
enum class ProductKernel {
  kEigen,   // what the whole program is compiled for
  kAvx2,    // 256-bit vectors, fused multiply-add
  kAvx512,  // 512-bit vectors, fused multiply-add
};

// Returns the kernels that this processor supports, the fastest last. Only the kernel functions are
// compiled for such instructions, and they take plain pointers. A compiler option for a whole file
// would give inline functions with these instructions to the rest of the program, and would change
// the alignment of Eigen's types for its users.
std::vector<ProductKernel> AvailableKernels();

// The entry (row, column) of a matrix in memory is data[row * row_stride + column * column_stride].
struct StridedMatrix {
  const float* data;
  Eigen::Index row_stride;
  Eigen::Index column_stride;
};

// Sets result = left * right, with left of rows x depth, right of depth x columns, and the result
// column-major without gaps. Both factors are copied into panels that fit the kernel's tile, in
// blocks that fit the cache [Goto, van de Geijn 2008]. Zeros pad the last tile; their products are
// discarded. REQUIRES: an available kernel but kEigen; all sizes >= 1.
void SetProductByKernel(ProductKernel kernel, const StridedMatrix& left, const StridedMatrix& right,
                        Eigen::Index rows, Eigen::Index columns, Eigen::Index depth, float* result);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_PRODUCT_KERNELS_H_
