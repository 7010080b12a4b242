#include "client/trainers/data/labeled_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers {
namespace {

double Norm(const double* begin, const double* end) {
  double largest = 0;
  for (const double* value = begin; value != end; ++value) {
    if (!std::isfinite(*value)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::fabs(*value));
  }
  if (largest == 0) return 0;
  double sum = 0;
  for (const double* value = begin; value != end; ++value) {
    const double ratio = *value / largest;
    sum += ratio * ratio;
  }
  return largest * std::sqrt(sum);
}

}  // namespace

Eigen::VectorXd RowNorms(const SparseRows& features) {
  Eigen::VectorXd norms(features.rows());
  const auto* starts = features.outerIndexPtr();
  const double* values = features.valuePtr();
  for (Eigen::Index row = 0; row < features.rows(); ++row) {
    norms[row] = Norm(values + starts[row], values + starts[row + 1]);
  }
  return norms;
}

LabeledRows WithBiasColumn(const LabeledRows& rows) {
  SparseRows features(rows.features.rows(), rows.features.cols() + 1);
  features.reserve(rows.features.nonZeros() + rows.features.rows());
  for (Eigen::Index row = 0; row < rows.features.rows(); ++row) {
    features.startVec(row);
    for (SparseRows::InnerIterator entry(rows.features, row); entry; ++entry) {
      features.insertBack(row, entry.col()) = entry.value();
    }
    features.insertBack(row, rows.features.cols()) = 1.0;
  }
  features.finalize();
  return {.features = std::move(features), .labels = rows.labels};
}

absl::Status ClipRowNorms(double row_norm_bound, LabeledRows* rows) {
  if (!(std::isfinite(row_norm_bound) && row_norm_bound > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_norm_bound: got ", row_norm_bound, ", want a finite number > 0"));
  }
  const Eigen::VectorXd norms = RowNorms(rows->features);
  const auto* starts = rows->features.outerIndexPtr();
  double* values = rows->features.valuePtr();
  for (Eigen::Index row = 0; row < rows->features.rows(); ++row) {
    if (norms[row] <= row_norm_bound) continue;
    double* const begin = values + starts[row];
    double* const end = values + starts[row + 1];
    if (!std::isfinite(norms[row])) {
      std::fill(begin, end, 0.0);
      continue;
    }
    // Divide first: row_norm_bound / norm alone could be a subnormal number with few digits.
    for (double* value = begin; value != end; ++value)
      *value = *value / norms[row] * row_norm_bound;
  }
  return absl::OkStatus();
}

LabeledRows SelectRows(const LabeledRows& rows, const std::vector<int>& row_numbers) {
  const Eigen::Index count = static_cast<Eigen::Index>(row_numbers.size());
  LabeledRows selected{.features = SparseRows(count, rows.features.cols()),
                       .labels = Eigen::VectorXd(count)};
  for (Eigen::Index row = 0; row < count; ++row) {
    const int source = row_numbers[row];
    selected.features.startVec(row);
    for (SparseRows::InnerIterator entry(rows.features, source); entry; ++entry) {
      selected.features.insertBack(row, entry.col()) = entry.value();
    }
    selected.labels[row] = rows.labels[source];
  }
  selected.features.finalize();
  return selected;
}

}  // namespace epsledger::trainers
