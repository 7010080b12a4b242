#include "client/trainers/fsdp/wide_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <vector>

namespace epsledger::trainers::fsdp {

#if defined(__x86_64__)

namespace {

// A tile of the result is 12 rows (three vectors of four) by 4 columns: twelve registers.
constexpr Eigen::Index kTileRows = 12;
constexpr Eigen::Index kTileColumns = 4;

// Copies rows [begin, begin + tile) of all columns of `matrix`, one column after the other, with
// zeros past the end of the matrix.
void Pack(const Eigen::MatrixXd& matrix, Eigen::Index begin, Eigen::Index tile, double* packed) {
  const Eigen::Index there = std::min(tile, matrix.rows() - begin);
  for (Eigen::Index i = 0; i < matrix.cols(); ++i) {
    const double* column = matrix.data() + i * matrix.rows() + begin;
    for (Eigen::Index row = 0; row < tile; ++row) *packed++ = row < there ? column[row] : 0;
  }
}

// Sets tile (kTileRows x kTileColumns, column-major) = left right^T of packed operands.
__attribute__((target("avx2,fma"))) void MultiplyTile(const double* left, const double* right,
                                                      Eigen::Index depth, double* tile) {
  __m256d sums[kTileColumns][3];
  for (auto& column : sums) {
    for (__m256d& part : column) part = _mm256_setzero_pd();
  }
  for (Eigen::Index i = 0; i < depth; ++i) {
    const __m256d first = _mm256_loadu_pd(left);
    const __m256d second = _mm256_loadu_pd(left + 4);
    const __m256d third = _mm256_loadu_pd(left + 8);
    for (Eigen::Index column = 0; column < kTileColumns; ++column) {
      const __m256d factor = _mm256_broadcast_sd(right + column);
      sums[column][0] = _mm256_fmadd_pd(first, factor, sums[column][0]);
      sums[column][1] = _mm256_fmadd_pd(second, factor, sums[column][1]);
      sums[column][2] = _mm256_fmadd_pd(third, factor, sums[column][2]);
    }
    left += kTileRows;
    right += kTileColumns;
  }
  for (const auto& column : sums) {
    for (const __m256d& part : column) {
      _mm256_storeu_pd(tile, part);
      tile += 4;
    }
  }
}

}  // namespace

bool HasWideProduct() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

void AddWideProduct(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right, double* sum) {
  const Eigen::Index rows = left.rows();
  const Eigen::Index columns = right.rows();
  const Eigen::Index depth = left.cols();
  const Eigen::Index row_tiles = (rows + kTileRows - 1) / kTileRows;
  std::vector<double> packed_left(static_cast<size_t>(row_tiles * kTileRows * depth));
  for (Eigen::Index tile = 0; tile < row_tiles; ++tile) {
    Pack(left, tile * kTileRows, kTileRows, packed_left.data() + tile * kTileRows * depth);
  }
  std::vector<double> packed_right(static_cast<size_t>(kTileColumns * depth));
  double tile[kTileRows * kTileColumns];
  for (Eigen::Index column = 0; column < columns; column += kTileColumns) {
    Pack(right, column, kTileColumns, packed_right.data());
    const Eigen::Index width = std::min(kTileColumns, columns - column);
    for (Eigen::Index row = 0; row < rows; row += kTileRows) {
      MultiplyTile(packed_left.data() + row * depth, packed_right.data(), depth, tile);
      const Eigen::Index height = std::min(kTileRows, rows - row);
      for (Eigen::Index j = 0; j < width; ++j) {
        double* target = sum + (column + j) * rows + row;
        for (Eigen::Index i = 0; i < height; ++i) target[i] += tile[j * kTileRows + i];
      }
    }
  }
}

#else

bool HasWideProduct() { return false; }

void AddWideProduct(const Eigen::MatrixXd&, const Eigen::MatrixXd&, double*) {}

#endif

}  // namespace epsledger::trainers::fsdp
