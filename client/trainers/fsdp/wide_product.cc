#include "client/trainers/fsdp/wide_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <vector>

namespace epsledger::trainers::fsdp {

#if defined(__x86_64__)

namespace {

using network::ProductKernel;

// Adds left right^T of packed operands to the tile at `sum`, whose columns are `stride` apart.
using TileFunction = void (*)(Eigen::Index depth, const double* left, const double* right,
                              double* sum, Eigen::Index stride);

struct Tile {
  Eigen::Index rows;
  Eigen::Index columns;
  TileFunction add;
};

// Written out by macros because a template would not be compiled for the function's instructions.
#define EPSLEDGER_COLUMNS_4(step) step(0) step(1) step(2) step(3)
#define EPSLEDGER_COLUMNS_12(step) \
  EPSLEDGER_COLUMNS_4(step) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)

// Three vectors of four rows by four columns: twelve registers.
__attribute__((target("avx2,fma"))) void AddTileAvx2(Eigen::Index depth, const double* left,
                                                     const double* right, double* sum,
                                                     Eigen::Index stride) {
#define EPSLEDGER_START(j)                \
  __m256d first##j = _mm256_setzero_pd(); \
  __m256d second##j = _mm256_setzero_pd(), third##j = _mm256_setzero_pd();
  EPSLEDGER_COLUMNS_4(EPSLEDGER_START)
#undef EPSLEDGER_START
  for (Eigen::Index i = 0; i < depth; ++i, left += 12, right += 4) {
    const __m256d first = _mm256_loadu_pd(left);
    const __m256d second = _mm256_loadu_pd(left + 4);
    const __m256d third = _mm256_loadu_pd(left + 8);
#define EPSLEDGER_MULTIPLY(j)                               \
  {                                                         \
    const __m256d factor = _mm256_broadcast_sd(right + j);  \
    first##j = _mm256_fmadd_pd(first, factor, first##j);    \
    second##j = _mm256_fmadd_pd(second, factor, second##j); \
    third##j = _mm256_fmadd_pd(third, factor, third##j);    \
  }
    EPSLEDGER_COLUMNS_4(EPSLEDGER_MULTIPLY)
#undef EPSLEDGER_MULTIPLY
  }
#define EPSLEDGER_ADD(j)                                                                 \
  {                                                                                      \
    double* const column = sum + j * stride;                                             \
    _mm256_storeu_pd(column, _mm256_add_pd(_mm256_loadu_pd(column), first##j));          \
    _mm256_storeu_pd(column + 4, _mm256_add_pd(_mm256_loadu_pd(column + 4), second##j)); \
    _mm256_storeu_pd(column + 8, _mm256_add_pd(_mm256_loadu_pd(column + 8), third##j));  \
  }
  EPSLEDGER_COLUMNS_4(EPSLEDGER_ADD)
#undef EPSLEDGER_ADD
}

// Two vectors of eight rows by twelve columns: 24 of 32 registers. The 64 rows of a hidden layer
// are four tiles without padding.
__attribute__((target("avx512f"))) void AddTileAvx512(Eigen::Index depth, const double* left,
                                                      const double* right, double* sum,
                                                      Eigen::Index stride) {
#define EPSLEDGER_START(j) __m512d low##j = _mm512_setzero_pd(), high##j = _mm512_setzero_pd();
  EPSLEDGER_COLUMNS_12(EPSLEDGER_START)
#undef EPSLEDGER_START
  for (Eigen::Index i = 0; i < depth; ++i, left += 16, right += 12) {
    const __m512d low = _mm512_loadu_pd(left);
    const __m512d high = _mm512_loadu_pd(left + 8);
#define EPSLEDGER_MULTIPLY(j)                         \
  {                                                   \
    const __m512d factor = _mm512_set1_pd(right[j]);  \
    low##j = _mm512_fmadd_pd(low, factor, low##j);    \
    high##j = _mm512_fmadd_pd(high, factor, high##j); \
  }
    EPSLEDGER_COLUMNS_12(EPSLEDGER_MULTIPLY)
#undef EPSLEDGER_MULTIPLY
  }
#define EPSLEDGER_ADD(j)                                                               \
  {                                                                                    \
    double* const column = sum + j * stride;                                           \
    _mm512_storeu_pd(column, _mm512_add_pd(_mm512_loadu_pd(column), low##j));          \
    _mm512_storeu_pd(column + 8, _mm512_add_pd(_mm512_loadu_pd(column + 8), high##j)); \
  }
  EPSLEDGER_COLUMNS_12(EPSLEDGER_ADD)
#undef EPSLEDGER_ADD
}

#undef EPSLEDGER_COLUMNS_12
#undef EPSLEDGER_COLUMNS_4

Tile TileOf(ProductKernel kernel) {
  return kernel == ProductKernel::kAvx512 ? Tile{.rows = 16, .columns = 12, .add = AddTileAvx512}
                                          : Tile{.rows = 12, .columns = 4, .add = AddTileAvx2};
}

constexpr Eigen::Index kLargestTile = Eigen::Index{16} * 12;

// Copies rows [begin, begin + tile) of all columns of `matrix`, one column after the other, with
// zeros past the end of the matrix.
void Pack(const Eigen::MatrixXd& matrix, Eigen::Index begin, Eigen::Index tile, double* packed) {
  const Eigen::Index there = std::min(tile, matrix.rows() - begin);
  for (Eigen::Index i = 0; i < matrix.cols(); ++i, packed += tile) {
    const double* column = matrix.data() + i * matrix.rows() + begin;
    for (Eigen::Index row = 0; row < tile; ++row) packed[row] = row < there ? column[row] : 0;
  }
}

// As Pack, with what AddWideProduct says of `right`. `data` is the first row that is copied, of a
// matrix whose columns are `stride` apart; `there` rows are in it. REQUIRES: `tile` is a multiple
// of 4.
__attribute__((target("avx2"))) void PackOnGrid(const float* data, Eigen::Index stride,
                                                Eigen::Index there, const double* scales,
                                                Eigen::Index depth, Eigen::Index tile,
                                                double* packed) {
  for (Eigen::Index i = 0; i < depth; ++i, data += stride, packed += tile) {
    if (scales[i] == 0) {
      for (Eigen::Index row = 0; row < tile; ++row) packed[row] = 0;
    } else if (there < tile) {
      for (Eigen::Index row = 0; row < tile; ++row) {
        packed[row] = row < there ? std::trunc(static_cast<double>(data[row]) * scales[i]) : 0;
      }
    } else {
      const __m256d scale = _mm256_set1_pd(scales[i]);
      for (Eigen::Index row = 0; row < tile; row += 4) {
        const __m256d four = _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(data + row)), scale);
        _mm256_storeu_pd(packed + row,
                         _mm256_round_pd(four, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
      }
    }
  }
}

}  // namespace

void AddWideProduct(ProductKernel kernel, const Eigen::MatrixXd& left,
                    const network::Matrix<float>& right, const Eigen::ArrayXd& right_scales,
                    double* sum) {
  const Tile tile = TileOf(kernel);
  const Eigen::Index rows = left.rows();
  const Eigen::Index columns = right.rows();
  const Eigen::Index depth = left.cols();
  if (depth == 0) return;
  const Eigen::Index row_tiles = (rows + tile.rows - 1) / tile.rows;
  std::vector<double> packed_left(static_cast<size_t>(row_tiles * tile.rows * depth));
  for (Eigen::Index row = 0; row < rows; row += tile.rows) {
    Pack(left, row, tile.rows, packed_left.data() + row * depth);
  }
  std::vector<double> packed_right(static_cast<size_t>(tile.columns * depth));
  for (Eigen::Index column = 0; column < columns; column += tile.columns) {
    const Eigen::Index width = std::min(tile.columns, columns - column);
    PackOnGrid(right.data() + column, columns, width, right_scales.data(), depth, tile.columns,
               packed_right.data());
    for (Eigen::Index row = 0; row < rows; row += tile.rows) {
      const double* const panel = packed_left.data() + row * depth;
      double* const corner = sum + column * rows + row;
      const Eigen::Index height = std::min(tile.rows, rows - row);
      if (height == tile.rows && width == tile.columns) {
        tile.add(depth, panel, packed_right.data(), corner, rows);
        continue;
      }
      double scratch[kLargestTile] = {};
      tile.add(depth, panel, packed_right.data(), scratch, tile.rows);
      for (Eigen::Index j = 0; j < width; ++j) {
        for (Eigen::Index i = 0; i < height; ++i) {
          corner[j * rows + i] += scratch[j * tile.rows + i];
        }
      }
    }
  }
}

#else

void AddWideProduct(network::ProductKernel, const Eigen::MatrixXd&, const network::Matrix<float>&,
                    const Eigen::ArrayXd&, double*) {}

#endif

}  // namespace epsledger::trainers::fsdp
