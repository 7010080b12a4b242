#include "client/trainers/fsdp/exact_sum.h"

#include <cmath>
#include <cstdint>

#include "client/trainers/fsdp/wide_product.h"

namespace epsledger::trainers::fsdp {
namespace {

// Entries of the right factor are integers with this many bits.
constexpr int kRightBits = 16;

// Numbers here are far below 2^63, and a conversion is much faster than a call to trunc.
double TowardZero(double value) { return static_cast<double>(static_cast<int64_t>(value)); }

// A power of two, as its exponent, that brings the largest entry into [2^15, 2^16).
int ShiftOf(float largest) { return kRightBits - 1 - std::ilogb(largest); }

}  // namespace

GridFactors ToGrid(const network::Matrix<float>& left, const network::Matrix<float>& right,
                   const Eigen::ArrayXd& factors) {
  GridFactors chunk{Eigen::MatrixXd(left.rows(), left.cols()), Eigen::ArrayXd(right.cols())};
  for (Eigen::Index i = 0; i < factors.size(); ++i) {
    const float largest = factors[i] == 0 ? 0 : right.col(i).cwiseAbs().maxCoeff();
    if (largest == 0) {
      chunk.left.col(i).setZero();
      chunk.right_scales[i] = 0;
      continue;
    }
    // Scaling is exact, and the left side gets the inverse. Truncation makes no entry larger.
    const int shift = ShiftOf(largest);
    const double left_scale = std::ldexp(factors[i], kGridBits - shift);
    chunk.right_scales[i] = std::ldexp(1.0, shift);
    chunk.left.col(i) = (left.col(i).cast<double>() * left_scale).unaryExpr([](double value) {
      return TowardZero(value);
    });
  }
  return chunk;
}

Eigen::MatrixXd RightOnGrid(const network::Matrix<float>& right, const Eigen::ArrayXd& scales) {
  Eigen::MatrixXd integers = Eigen::MatrixXd::Zero(right.rows(), right.cols());
  for (Eigen::Index i = 0; i < right.cols(); ++i) {
    if (scales[i] == 0) continue;
    integers.col(i) = (right.col(i).cast<double>() * scales[i]).unaryExpr([](double value) {
      return TowardZero(value);
    });
  }
  return integers;
}

network::Matrix<float> OnGrid(const network::Matrix<float>& right) {
  network::Matrix<float> rounded = right;
  for (Eigen::Index i = 0; i < right.cols(); ++i) {
    const float largest = right.col(i).cwiseAbs().maxCoeff();
    if (largest == 0 || !right.col(i).allFinite()) continue;
    const double scale = std::ldexp(1.0, ShiftOf(largest));
    const double unit = std::ldexp(1.0, -ShiftOf(largest));
    rounded.col(i) = right.col(i).unaryExpr([&](float value) {
      return static_cast<float>(std::trunc(static_cast<double>(value) * scale) * unit);
    });
  }
  return rounded;
}

double LeftRounding(Eigen::Index left_rows, const Eigen::Ref<const Eigen::VectorXf>& right) {
  const float largest = right.cwiseAbs().maxCoeff();
  if (largest == 0) return 0;
  // Each entry of the left side loses less than 1 in units where the right side has these integers.
  return std::sqrt(static_cast<double>(left_rows)) * right.cast<double>().norm() *
         std::ldexp(1.0, ShiftOf(largest) - kGridBits);
}

void AddOuterProducts(const GridFactors& chunk, const network::Matrix<float>& right, double* sum) {
  static const network::ProductKernel kernel = network::AvailableKernels().back();
  if (kernel == network::ProductKernel::kEigen) {
    Eigen::Map<Eigen::MatrixXd>(sum, chunk.left.rows(), right.rows()).noalias() +=
        chunk.left * RightOnGrid(right, chunk.right_scales).transpose();
  } else {
    AddWideProduct(kernel, chunk.left, right, chunk.right_scales, sum);
  }
}

void AddColumns(const network::Matrix<float>& gradients, const Eigen::ArrayXd& factors,
                double* sum) {
  for (Eigen::Index i = 0; i < factors.size(); ++i) {
    if (factors[i] == 0) continue;
    const double scale = std::ldexp(factors[i], kGridBits);
    const float* column = gradients.data() + i * gradients.rows();
    for (Eigen::Index j = 0; j < gradients.rows(); ++j) {
      sum[j] += TowardZero(static_cast<double>(column[j]) * scale);
    }
  }
}

}  // namespace epsledger::trainers::fsdp
