#include "client/trainers/istdp/linear_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

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
// 1 - (entries / 2 + 3) u, the quotient and the products each have an error of u; the margin covers
// the sum.
double LargestCoefficient(double norm, double contribution, Eigen::Index entries,
                          double largest_residual) {
  if (!std::isfinite(norm) || norm == 0) return 0;
  const double margin = 1 - (static_cast<double>(entries) + 8) * kUnitRoundoff;
  const double largest = contribution / norm * margin;
  if (largest >= largest_residual) return largest_residual;
  return largest < kSmallestCoefficient ? 0 : largest;
}

Eigen::VectorXd FromGrid(const std::vector<int64_t>& sum, double grid) {
  Eigen::VectorXd vector(static_cast<Eigen::Index>(sum.size()));
  for (size_t j = 0; j < sum.size(); ++j) {
    vector[static_cast<Eigen::Index>(j)] = static_cast<double>(sum[j]) * grid;
  }
  return vector;
}

}  // namespace

double LossSum(const MarginLoss& loss, const LabeledRows& rows, const Eigen::VectorXd& theta) {
  const Eigen::VectorXd margins = rows.features * theta;
  double sum = 0;
  for (Eigen::Index row = 0; row < margins.size(); ++row) {
    sum += MarginLossValue(loss, margins[row], rows.labels[row]);
  }
  return sum;
}

absl::StatusOr<LinearLoss> LinearLoss::Create(const MarginLoss& loss, LabeledRows rows,
                                              double contribution) {
  RETURN_IF_ERROR(ValidateMarginLoss(loss));
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
  return LinearLoss(loss, std::move(rows), contribution);
}

absl::StatusOr<LinearLoss> LinearLoss::OnColumns(const std::vector<int>& columns,
                                                 double contribution) const {
  LabeledRows kept = rows_;
  kept.features.prune([&](Eigen::Index, Eigen::Index column, double) {
    return std::binary_search(columns.begin(), columns.end(), static_cast<int>(column));
  });
  return Create(loss_, std::move(kept), contribution);
}

LinearLoss::LinearLoss(const MarginLoss& loss, LabeledRows rows, double contribution)
    : loss_(loss),
      rows_(std::move(rows)),
      contribution_(contribution),
      grid_(std::ldexp(1.0, std::ilogb(contribution) - kGridBits)) {
  const Eigen::VectorXd norms = RowNorms(rows_.features);
  const auto* starts = rows_.features.outerIndexPtr();
  largest_coefficient_.reserve(norms.size());
  for (Eigen::Index row = 0; row < norms.size(); ++row) {
    largest_coefficient_.push_back(LargestCoefficient(
        norms[row], contribution, starts[row + 1] - starts[row], LargestResidual(loss)));
  }
}

double LinearLoss::Margin(Eigen::Index row, const double* weights) const {
  const auto* starts = rows_.features.outerIndexPtr();
  const auto* columns = rows_.features.innerIndexPtr();
  const double* values = rows_.features.valuePtr();
  double margin = 0;
  for (auto k = starts[row]; k < starts[row + 1]; ++k) margin += values[k] * weights[columns[k]];
  return margin;
}

void LinearLoss::AddGradient(Eigen::Index row, const double* weights, int64_t* sum) const {
  const double largest = largest_coefficient_[static_cast<size_t>(row)];
  if (largest == 0) return;
  const double residual = Residual(loss_, Margin(row, weights), rows_.labels[row]);
  if (std::isnan(residual)) return;
  const double coefficient = std::clamp(residual, -largest, largest) * (1 / grid_);
  const auto* starts = rows_.features.outerIndexPtr();
  const auto* columns = rows_.features.innerIndexPtr();
  const double* values = rows_.features.valuePtr();
  for (auto k = starts[row]; k < starts[row + 1]; ++k) {
    sum[columns[k]] += static_cast<int64_t>(coefficient * values[k]);
  }
}

Eigen::VectorXd LinearLoss::GradientSum(const Eigen::VectorXd& theta) const {
  std::vector<int64_t> sum(static_cast<size_t>(feature_count()), 0);
  for (Eigen::Index row = 0; row < record_count(); ++row) {
    AddGradient(row, theta.data(), sum.data());
  }
  return FromGrid(sum, grid_);
}

Eigen::VectorXd LinearLoss::GradientSum(const Eigen::VectorXd& theta, const Batch& batch) const {
  std::vector<int64_t> sum(static_cast<size_t>(feature_count()), 0);
  for (const int row : batch) AddGradient(row, theta.data(), sum.data());
  return FromGrid(sum, grid_);
}

Eigen::VectorXd LinearLoss::ComparisonSum(const Eigen::VectorXd& theta,
                                          const std::vector<Eigen::VectorXd>& candidates,
                                          const Batch* batch) const {
  const double grid = std::ldexp(1.0, -kGridBits);
  std::vector<double> scales;
  for (const Eigen::VectorXd& candidate : candidates) {
    scales.push_back(contribution_ * (candidate - theta).norm());
  }
  std::vector<int64_t> sum(candidates.size(), 0);
  const auto add = [&](Eigen::Index row) {
    if (largest_coefficient_[static_cast<size_t>(row)] == 0) return;
    const double label = rows_.labels[row];
    const double before = MarginLossValue(loss_, Margin(row, theta.data()), label);
    for (size_t j = 0; j < candidates.size(); ++j) {
      if (!(scales[j] > 0)) continue;
      const double after = MarginLossValue(loss_, Margin(row, candidates[j].data()), label);
      const double term = (after - before) / scales[j];
      if (std::isnan(term)) continue;
      sum[j] += static_cast<int64_t>(std::clamp(term, -1.0, 1.0) / grid);
    }
  };
  if (batch == nullptr) {
    for (Eigen::Index row = 0; row < record_count(); ++row) add(row);
  } else {
    for (const int row : *batch) add(row);
  }
  return FromGrid(sum, grid);
}

double LinearLoss::ExactLossSum(const Eigen::VectorXd& theta) const {
  double sum = 0;
  for (Eigen::Index row = 0; row < record_count(); ++row) {
    if (largest_coefficient_[static_cast<size_t>(row)] == 0) continue;
    sum += MarginLossValue(loss_, Margin(row, theta.data()), rows_.labels[row]);
  }
  return sum;
}

}  // namespace epsledger::trainers::istdp
