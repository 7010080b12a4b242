#include "client/trainers/istdp/logistic_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kGridBits = 35;
constexpr double kSmallestContribution = 1e-100;
constexpr double kLargestContribution = 1e100;
// Below this a coefficient has lost so many bits that the bound on its rounding error fails.
constexpr double kSmallestCoefficient = 1e-290;
constexpr double kUnitRoundoff = 0x1p-53;

// A bound on |coefficient| such that the computed products coefficient * x_j have norm at most
// `contribution`. The computed norm is below the true one by a factor of at most
// 1 - (entries / 2 + 3) u, the quotient and the products err by u each; the margin covers the sum.
double LargestCoefficient(double norm, double contribution, Eigen::Index entries) {
  if (!std::isfinite(norm) || norm == 0) return 0;
  const double margin = 1 - (static_cast<double>(entries) + 8) * kUnitRoundoff;
  const double largest = contribution / norm * margin;
  if (largest >= 1) return 1;  // a residual is at most 1
  return largest < kSmallestCoefficient ? 0 : largest;
}

}  // namespace

double LipschitzConstant(double row_norm_bound) { return row_norm_bound * row_norm_bound / 4; }

double LogisticLossSum(const LabeledRows& rows, const Eigen::VectorXd& theta) {
  const Eigen::VectorXd margins = rows.features * theta;
  double sum = 0;
  for (Eigen::Index row = 0; row < margins.size(); ++row) {
    const double m = margins[row];
    const double softplus = (m > 0 ? m : 0) + std::log1p(std::exp(-std::fabs(m)));
    sum += softplus - rows.labels[row] * m;
  }
  return sum;
}

absl::StatusOr<LogisticLoss> LogisticLoss::Create(LabeledRows rows, double contribution) {
  if (!(contribution >= kSmallestContribution && contribution <= kLargestContribution)) {
    return absl::InvalidArgumentError(absl::StrCat("contribution: got ", contribution,
                                                   ", want a number in [", kSmallestContribution,
                                                   ", ", kLargestContribution, "]"));
  }
  if (rows.labels.size() != rows.features.rows()) {
    return absl::InvalidArgumentError(absl::StrCat("labels: got ", rows.labels.size(),
                                                   ", want one for each of the ",
                                                   rows.features.rows(), " rows"));
  }
  if (rows.features.rows() > kMaxRecords) {
    return absl::InvalidArgumentError(
        absl::StrCat("rows: got ", rows.features.rows(), ", want at most ", kMaxRecords));
  }
  for (const double label : rows.labels) {
    if (label != 0 && label != 1) {
      return absl::InvalidArgumentError(absl::StrCat("labels: got ", label, ", want 0 or 1"));
    }
  }
  rows.features.makeCompressed();
  return LogisticLoss(std::move(rows), contribution);
}

LogisticLoss::LogisticLoss(LabeledRows rows, double contribution)
    : rows_(std::move(rows)),
      contribution_(contribution),
      grid_(std::ldexp(1.0, std::ilogb(contribution) - kGridBits)) {
  const Eigen::VectorXd norms = RowNorms(rows_.features);
  const auto* starts = rows_.features.outerIndexPtr();
  largest_coefficient_.reserve(norms.size());
  for (Eigen::Index row = 0; row < norms.size(); ++row) {
    largest_coefficient_.push_back(
        LargestCoefficient(norms[row], contribution, starts[row + 1] - starts[row]));
  }
}

Eigen::VectorXd LogisticLoss::GradientSum(const Eigen::VectorXd& theta) const {
  std::vector<std::int64_t> sum(static_cast<std::size_t>(feature_count()), 0);
  const auto* starts = rows_.features.outerIndexPtr();
  const auto* columns = rows_.features.innerIndexPtr();
  const double* values = rows_.features.valuePtr();
  const double* labels = rows_.labels.data();
  const double* weights = theta.data();
  const double units_per_one = 1 / grid_;
  const Eigen::Index row_count = rows_.features.rows();
  for (Eigen::Index row = 0; row < row_count; ++row) {
    const double largest = largest_coefficient_[row];
    if (largest == 0) continue;
    double margin = 0;
    for (auto k = starts[row]; k < starts[row + 1]; ++k) margin += values[k] * weights[columns[k]];
    const double residual = 1 / (1 + std::exp(-margin)) - labels[row];
    if (std::isnan(residual)) continue;
    const double coefficient = std::clamp(residual, -largest, largest) * units_per_one;
    for (auto k = starts[row]; k < starts[row + 1]; ++k) {
      sum[columns[k]] += static_cast<std::int64_t>(coefficient * values[k]);
    }
  }
  Eigen::VectorXd gradient(feature_count());
  for (Eigen::Index j = 0; j < gradient.size(); ++j) {
    gradient[j] = static_cast<double>(sum[j]) * grid_;
  }
  return gradient;
}

}  // namespace epsledger::trainers::istdp
