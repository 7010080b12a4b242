#include "client/trainers/network/matrix_product.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

#include "client/trainers/network/product_kernels.h"

namespace epsledger::trainers::network {
namespace {

struct Sizes {
  int rows, columns, depth;
};
// Whole tiles, one more, one less; one and several blocks of rows (256) and depth (256).
constexpr Sizes kSizes[] = {{1, 1, 1},    {32, 12, 8},  {33, 13, 9},    {31, 11, 7},
                            {16, 6, 256}, {17, 7, 257}, {257, 3, 5},    {5, 100, 300},
                            {300, 40, 2}, {64, 64, 64}, {260, 25, 515}, {196, 64, 100}};

// left * right with every way to lay the factors out.
template <class Check>
void ForEachLayout(const Sizes& sizes, const Check& check) {
  const Matrix<float> left = Matrix<float>::Random(sizes.rows, sizes.depth);
  const Matrix<float> right = Matrix<float>::Random(sizes.depth, sizes.columns);
  const Matrix<float> left_transposed = left.transpose();
  const Matrix<float> right_transposed = right.transpose();
  const Matrix<double> exact = left.cast<double>() * right.cast<double>();
  const Factor<float> lefts[] = {left, Factor<float>(left_transposed).Transposed()};
  const Factor<float> rights[] = {right, Factor<float>(right_transposed).Transposed()};
  for (const Factor<float>& a : lefts) {
    for (const Factor<float>& b : rights) check(a, b, exact);
  }
}

// depth (depth + 1) / 2 roundings of products below 1 are far above what is seen.
double Tolerance(const Sizes& sizes) { return 6e-8 * (sizes.depth + 2) * 2; }

TEST(SetProduct, IsTheProductInEveryLayout) {
  for (const Sizes& sizes : kSizes) {
    ForEachLayout(sizes, [&](const Factor<float>& a, const Factor<float>& b,
                             const Matrix<double>& exact) {
      // What was there before is overwritten, NaN too.
      Matrix<float> result = Matrix<float>::Constant(sizes.rows, sizes.columns, std::nanf(""));
      SetProduct<float>(a, b, Eigen::Map<Matrix<float>>(result.data(), sizes.rows, sizes.columns));
      EXPECT_LT((result.cast<double>() - exact).cwiseAbs().maxCoeff(), Tolerance(sizes))
          << sizes.rows << " " << sizes.columns << " " << sizes.depth;
    });
  }
}

StridedMatrix Strided(const Factor<float>& factor) {
  const Eigen::Index leading = factor.matrix.rows();
  return factor.is_transposed ? StridedMatrix{factor.matrix.data(), leading, 1}
                              : StridedMatrix{factor.matrix.data(), 1, leading};
}

TEST(SetProductByKernel, IsTheProductWithEveryKernelOfThisProcessor) {
  for (const ProductKernel kernel : AvailableKernels()) {
    if (kernel == ProductKernel::kEigen) continue;
    for (const Sizes& sizes : kSizes) {
      ForEachLayout(
          sizes, [&](const Factor<float>& a, const Factor<float>& b, const Matrix<double>& exact) {
            Matrix<float> result(sizes.rows, sizes.columns);
            SetProductByKernel(kernel, Strided(a), Strided(b), sizes.rows, sizes.columns,
                               sizes.depth, result.data());
            EXPECT_LT((result.cast<double>() - exact).cwiseAbs().maxCoeff(), Tolerance(sizes))
                << static_cast<int>(kernel) << " " << sizes.rows << " " << sizes.columns << " "
                << sizes.depth;
          });
    }
  }
}

TEST(SetProduct, KeepsNanAndInfinityInTheirRowAndColumn) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Matrix<float> left = Matrix<float>::Random(37, 21);
    Matrix<float> right = Matrix<float>::Random(21, 29);
    left(35, 3) = bad;
    right(20, 28) = bad;
    Matrix<float> result(37, 29);
    SetProduct<float>(left, right, Eigen::Map<Matrix<float>>(result.data(), 37, 29));
    for (int i = 0; i < 37; ++i) {
      for (int j = 0; j < 29; ++j) {
        EXPECT_EQ(std::isfinite(result(i, j)), i != 35 && j != 28) << i << " " << j;
      }
    }
  }
}

TEST(SetProduct, GivesTheSameBitsWhereverTheDataLies) {
  const Matrix<float> left = Matrix<float>::Random(50, 30);
  const Matrix<float> right = Matrix<float>::Random(30, 14);
  Matrix<float> want(50, 14);
  SetProduct<float>(left, right, Eigen::Map<Matrix<float>>(want.data(), 50, 14));
  for (int offset = 1; offset < 17; ++offset) {
    std::vector<float> a(50 * 30 + 17), b(30 * 14 + 17), c(50 * 14 + 17);
    Eigen::Map<Matrix<float>> a_map(a.data() + offset, 50, 30);
    Eigen::Map<Matrix<float>> b_map(b.data() + 17 - offset, 30, 14);
    Eigen::Map<Matrix<float>> c_map(c.data() + offset, 50, 14);
    a_map = left;
    b_map = right;
    SetProduct<float>(a_map, b_map, c_map);
    EXPECT_EQ(Matrix<float>(c_map), want) << offset;
  }
}

TEST(SetProduct, OfNothingIsNothingOrZero) {
  Matrix<float> result = Matrix<float>::Constant(3, 2, 7);
  SetProduct<float>(Matrix<float>(3, 0), Matrix<float>(0, 2),
                    Eigen::Map<Matrix<float>>(result.data(), 3, 2));
  EXPECT_EQ(result, Matrix<float>(Matrix<float>::Zero(3, 2)));
  SetProduct<float>(Matrix<float>(0, 4), Matrix<float>(4, 2),
                    Eigen::Map<Matrix<float>>(nullptr, 0, 2));
}

TEST(SetProduct, OfDoublesIsEigens) {
  const Matrix<double> left = Matrix<double>::Random(5, 4);
  const Matrix<double> right = Matrix<double>::Random(5, 3);
  Matrix<double> result(4, 3);
  SetProduct<double>(Factor<double>(left).Transposed(), right,
                     Eigen::Map<Matrix<double>>(result.data(), 4, 3));
  EXPECT_LT((result - left.transpose() * right).norm(), 1e-14);
}

}  // namespace
}  // namespace epsledger::trainers::network
