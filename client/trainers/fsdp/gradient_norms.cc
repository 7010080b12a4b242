#include "client/trainers/fsdp/gradient_norms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/trainers/fsdp/exact_sum.h"

namespace epsledger::trainers::fsdp {
namespace {

// Covers the roundings of norms, factors and their products, which are in double.
constexpr double kNormMargin = 1 - 1e-9;
// An inner product of n terms in double is within about n 2^-53 of the exact one, times both norms
// ([Higham02] Sec. 3.1), and an entry of the sum is a product of two. 2^-51 leaves room for the
// other roundings. n counts the terms of both.
constexpr double kInnerProductError = 0x1p-51;

}  // namespace

GradientNorms::GradientNorms(Eigen::Index records, Eigen::Index views)
    : views_(views),
      squares_(Eigen::ArrayXd::Zero(records)),
      view_squares_(Eigen::ArrayXXd::Zero(views == 1 ? 0 : records, views)),
      rounding_squares_(Eigen::ArrayXd::Zero(records)) {}

void GradientNorms::AddOuterProducts(const network::Matrix<float>& left,
                                     const network::Matrix<float>& right) {
  if (left.size() == 0) return;
  const Eigen::Index dimension = left.rows() + right.rows();
  largest_dimension_ = std::max(largest_dimension_, static_cast<double>(dimension));
  for (Eigen::Index record = 0; record < squares_.size(); ++record) {
    if (views_ > 1) {
      AddViews(record, left, right);
      continue;
    }
    squares_[record] += right.col(record).cast<double>().squaredNorm() *
                        left.col(record).cast<double>().squaredNorm();
  }
}

void GradientNorms::AddViews(Eigen::Index record, const network::Matrix<float>& left,
                             const network::Matrix<float>& right) {
  const Eigen::Index records = squares_.size();
  double rounding = 0;
  double square = 0;
  for (Eigen::Index view = 0; view < views_; ++view) {
    const Eigen::Index column = view * records + record;
    const Eigen::VectorXd left_side = left.col(column).cast<double>();
    const Eigen::VectorXd right_side = right.col(column).cast<double>();
    const double of_view = left_side.squaredNorm() * right_side.squaredNorm();
    view_squares_(record, view) += of_view;
    square += of_view;
    for (Eigen::Index other = 0; other < view; ++other) {
      const Eigen::Index other_column = other * records + record;
      square += 2 * left_side.dot(left.col(other_column).cast<double>()) *
                right_side.dot(right.col(other_column).cast<double>());
    }
    if (std::isfinite(of_view)) rounding += LeftRounding(left.rows(), right.col(column));
  }
  squares_[record] += square / static_cast<double>(views_ * views_);
  rounding_squares_[record] += rounding * rounding;
}

void GradientNorms::AddColumns(const network::Matrix<float>& gradients) {
  for (Eigen::Index record = 0; record < squares_.size(); ++record) {
    squares_[record] += gradients.col(record).cast<double>().squaredNorm();
  }
}

PartNorm GradientNorms::of(Eigen::Index record) const {
  if (views_ == 1) return {.norm = std::sqrt(squares_[record])};
  const double views = static_cast<double>(views_);
  // A maximum would hide a NaN; a sum does not.
  if (!std::isfinite(squares_[record]) || !std::isfinite(view_squares_.row(record).sum())) {
    return {.norm = std::numeric_limits<double>::quiet_NaN()};
  }
  const double largest = std::sqrt(view_squares_.row(record).maxCoeff()) / views;
  // (sum_c ||g_c|| / m)^2 <= (m largest)^2.
  const double error =
      largest_dimension_ * kInnerProductError * (views * largest) * (views * largest);
  return {.norm = std::sqrt(std::max(squares_[record], 0.0) + error),
          .largest_view = largest,
          .rounding = std::sqrt(rounding_squares_[record])};
}

double ClipFactor(const PartNorm& part, const ClipShare& clip) {
  const double room = std::max(0.0, 1 - part.rounding / clip.share);
  const double factor = clip.share * kNormMargin * room * std::min(1 / clip.clip, 1 / part.norm);
  return std::min(factor, kLargestOfAView * kNormMargin / part.largest_view);
}

}  // namespace epsledger::trainers::fsdp
