#include "client/trainers/network/product_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace epsledger::trainers::network {

#if defined(__x86_64__)
namespace {

// Adds the product of two panels to a tile: sum over p < depth of left[p * tile rows + i] *
// right[p * tile columns + j] to tile[i + j * tile_stride]. `left` is aligned to a vector.
using TileFunction = void (*)(Eigen::Index depth, const float* left, const float* right,
                              float* tile, Eigen::Index tile_stride);

struct Tile {
  Eigen::Index rows;
  Eigen::Index columns;
  TileFunction add;
};

// Two vectors of rows, one scalar of a column at a time; all sums stay in registers. Written out by
// macros because a lambda or a template would not be compiled for the function's instructions.
#define EPSLEDGER_COLUMNS_6(step) step(0) step(1) step(2) step(3) step(4) step(5)
#define EPSLEDGER_COLUMNS_12(step) \
  EPSLEDGER_COLUMNS_6(step) step(6) step(7) step(8) step(9) step(10) step(11)

__attribute__((target("avx2,fma"))) void AddTileAvx2(Eigen::Index depth, const float* left,
                                                     const float* right, float* tile,
                                                     Eigen::Index tile_stride) {
#define EPSLEDGER_START(j) __m256 low##j = _mm256_setzero_ps(), high##j = _mm256_setzero_ps();
  EPSLEDGER_COLUMNS_6(EPSLEDGER_START)
#undef EPSLEDGER_START
  for (Eigen::Index p = 0; p < depth; ++p, left += 16, right += 6) {
    const __m256 low = _mm256_load_ps(left);
    const __m256 high = _mm256_load_ps(left + 8);
#define EPSLEDGER_MULTIPLY(j)                             \
  {                                                       \
    const __m256 factor = _mm256_broadcast_ss(right + j); \
    low##j = _mm256_fmadd_ps(low, factor, low##j);        \
    high##j = _mm256_fmadd_ps(high, factor, high##j);     \
  }
    EPSLEDGER_COLUMNS_6(EPSLEDGER_MULTIPLY)
#undef EPSLEDGER_MULTIPLY
  }
#define EPSLEDGER_ADD(j)                                                               \
  {                                                                                    \
    float* const column = tile + j * tile_stride;                                      \
    _mm256_storeu_ps(column, _mm256_add_ps(_mm256_loadu_ps(column), low##j));          \
    _mm256_storeu_ps(column + 8, _mm256_add_ps(_mm256_loadu_ps(column + 8), high##j)); \
  }
  EPSLEDGER_COLUMNS_6(EPSLEDGER_ADD)
#undef EPSLEDGER_ADD
}

__attribute__((target("avx512f"))) void AddTileAvx512(Eigen::Index depth, const float* left,
                                                      const float* right, float* tile,
                                                      Eigen::Index tile_stride) {
#define EPSLEDGER_START(j) __m512 low##j = _mm512_setzero_ps(), high##j = _mm512_setzero_ps();
  EPSLEDGER_COLUMNS_12(EPSLEDGER_START)
#undef EPSLEDGER_START
  for (Eigen::Index p = 0; p < depth; ++p, left += 32, right += 12) {
    const __m512 low = _mm512_load_ps(left);
    const __m512 high = _mm512_load_ps(left + 16);
#define EPSLEDGER_MULTIPLY(j)                         \
  {                                                   \
    const __m512 factor = _mm512_set1_ps(right[j]);   \
    low##j = _mm512_fmadd_ps(low, factor, low##j);    \
    high##j = _mm512_fmadd_ps(high, factor, high##j); \
  }
    EPSLEDGER_COLUMNS_12(EPSLEDGER_MULTIPLY)
#undef EPSLEDGER_MULTIPLY
  }
#define EPSLEDGER_ADD(j)                                                                 \
  {                                                                                      \
    float* const column = tile + j * tile_stride;                                        \
    _mm512_storeu_ps(column, _mm512_add_ps(_mm512_loadu_ps(column), low##j));            \
    _mm512_storeu_ps(column + 16, _mm512_add_ps(_mm512_loadu_ps(column + 16), high##j)); \
  }
  EPSLEDGER_COLUMNS_12(EPSLEDGER_ADD)
#undef EPSLEDGER_ADD
}

#undef EPSLEDGER_COLUMNS_12
#undef EPSLEDGER_COLUMNS_6

Tile TileOf(ProductKernel kernel) {
  return kernel == ProductKernel::kAvx512 ? Tile{.rows = 32, .columns = 12, .add = AddTileAvx512}
                                          : Tile{.rows = 16, .columns = 6, .add = AddTileAvx2};
}

constexpr Eigen::Index kLargestTile = 32 * 12;
// Rows of one block: 256 KB of the left factor, which stays in the L2 cache.
constexpr Eigen::Index kBlockRows = 256;
constexpr Eigen::Index kBlockDepth = 256;
constexpr ptrdiff_t kAlignment = 64;

Eigen::Index RoundUp(Eigen::Index number, Eigen::Index multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// As Pack for one full panel whose lines are contiguous, four by four.
void PackByTransposing(const float* lines, Eigen::Index line_stride, Eigen::Index depth,
                       Eigen::Index width, float* panel) {
  const Eigen::Index whole_depth = depth / 4 * 4;
  const Eigen::Index whole_width = width / 4 * 4;
  for (Eigen::Index line = 0; line < whole_width; line += 4) {
    const float* const from = lines + line * line_stride;
    for (Eigen::Index p = 0; p < whole_depth; p += 4) {
      __m128 row0 = _mm_loadu_ps(from + p);
      __m128 row1 = _mm_loadu_ps(from + line_stride + p);
      __m128 row2 = _mm_loadu_ps(from + 2 * line_stride + p);
      __m128 row3 = _mm_loadu_ps(from + 3 * line_stride + p);
      _MM_TRANSPOSE4_PS(row0, row1, row2, row3);
      float* const to = panel + p * width + line;
      _mm_storeu_ps(to, row0);
      _mm_storeu_ps(to + width, row1);
      _mm_storeu_ps(to + 2 * width, row2);
      _mm_storeu_ps(to + 3 * width, row3);
    }
  }
  for (Eigen::Index line = 0; line < width; ++line) {
    const Eigen::Index first = line < whole_width ? whole_depth : 0;
    for (Eigen::Index p = first; p < depth; ++p) {
      panel[p * width + line] = lines[line * line_stride + p];
    }
  }
}

// Copies `count` lines of `depth` numbers into panels of `width` lines with the layout panel[p *
// width + line]. Lines beyond `count` are 0.
void Pack(const float* data, Eigen::Index line_stride, Eigen::Index depth_stride,
          Eigen::Index count, Eigen::Index depth, Eigen::Index width, float* panels) {
  for (Eigen::Index first = 0; first < count; first += width, panels += width * depth) {
    const Eigen::Index used = std::min(width, count - first);
    const float* const lines = data + first * line_stride;
    if (used == width && line_stride == 1) {
      for (Eigen::Index p = 0; p < depth; ++p) {
        std::copy_n(lines + p * depth_stride, width, panels + p * width);
      }
      continue;
    }
    if (used == width && depth_stride == 1) {
      PackByTransposing(lines, line_stride, depth, width, panels);
      continue;
    }
    if (used < width) std::fill_n(panels, width * depth, 0.0F);
    for (Eigen::Index p = 0; p < depth; ++p) {
      for (Eigen::Index line = 0; line < used; ++line) {
        panels[p * width + line] = lines[line * line_stride + p * depth_stride];
      }
    }
  }
}

float* Aligned(std::vector<float>* storage, Eigen::Index size) {
  // The storage grows and is kept: an allocation is too slow for the product of one sample.
  storage->resize(std::max(storage->size(), static_cast<size_t>(size) + kAlignment));
  const auto address = reinterpret_cast<std::uintptr_t>(storage->data());
  const std::uintptr_t past = address % kAlignment;
  return storage->data() + (past == 0 ? 0 : (kAlignment - past) / sizeof(float));
}

}  // namespace

std::vector<ProductKernel> AvailableKernels() {
  std::vector<ProductKernel> kernels = {ProductKernel::kEigen};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    kernels.push_back(ProductKernel::kAvx2);
  }
  if (__builtin_cpu_supports("avx512f") != 0) kernels.push_back(ProductKernel::kAvx512);
  return kernels;
}

void SetProductByKernel(ProductKernel kernel, const StridedMatrix& left, const StridedMatrix& right,
                        Eigen::Index rows, Eigen::Index columns, Eigen::Index depth,
                        float* result) {
  thread_local std::vector<float> left_storage;
  thread_local std::vector<float> right_storage;
  const Tile tile = TileOf(kernel);
  std::fill_n(result, rows * columns, 0.0F);
  float* const left_panels =
      Aligned(&left_storage, RoundUp(std::min(rows, kBlockRows), tile.rows) * kBlockDepth);
  float* const right_panels = Aligned(&right_storage, RoundUp(columns, tile.columns) * kBlockDepth);
  for (Eigen::Index p = 0; p < depth; p += kBlockDepth) {
    const Eigen::Index block_depth = std::min(kBlockDepth, depth - p);
    Pack(right.data + p * right.row_stride, right.column_stride, right.row_stride, columns,
         block_depth, tile.columns, right_panels);
    for (Eigen::Index block = 0; block < rows; block += kBlockRows) {
      const Eigen::Index block_rows = std::min(kBlockRows, rows - block);
      Pack(left.data + block * left.row_stride + p * left.column_stride, left.row_stride,
           left.column_stride, block_rows, block_depth, tile.rows, left_panels);
      for (Eigen::Index j = 0; j < columns; j += tile.columns) {
        const float* const right_panel = right_panels + j * block_depth;
        for (Eigen::Index i = 0; i < block_rows; i += tile.rows) {
          const float* const left_panel = left_panels + i * block_depth;
          float* const corner = result + block + i + j * rows;
          const Eigen::Index used_rows = std::min(tile.rows, block_rows - i);
          const Eigen::Index used_columns = std::min(tile.columns, columns - j);
          if (used_rows == tile.rows && used_columns == tile.columns) {
            tile.add(block_depth, left_panel, right_panel, corner, rows);
            continue;
          }
          float scratch[kLargestTile] = {};
          tile.add(block_depth, left_panel, right_panel, scratch, tile.rows);
          for (Eigen::Index column = 0; column < used_columns; ++column) {
            for (Eigen::Index row = 0; row < used_rows; ++row) {
              corner[row + column * rows] += scratch[row + column * tile.rows];
            }
          }
        }
      }
    }
  }
}

#else

std::vector<ProductKernel> AvailableKernels() { return {ProductKernel::kEigen}; }

void SetProductByKernel(ProductKernel, const StridedMatrix&, const StridedMatrix&, Eigen::Index,
                        Eigen::Index, Eigen::Index, float*) {}

#endif

}  // namespace epsledger::trainers::network
