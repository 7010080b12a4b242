#include "client/trainers/fsdp_published/published_release.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers::fsdp_published {
namespace {

absl::Status Validate(const std::vector<RecordGradient>& batch, const PublishedOptions& options) {
  if (!(options.budget.epsilon > 0) || !std::isfinite(options.budget.epsilon)) {
    return absl::InvalidArgumentError(
        absl::StrCat("epsilon: got ", options.budget.epsilon, ", want a finite number above 0"));
  }
  if (!(options.budget.delta > 0 && options.budget.delta < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("delta: got ", options.budget.delta, ", want one in (0, 1)"));
  }
  for (const RecordGradient& record : batch) {
    if (record.gradient.rows() != batch.front().gradient.rows() ||
        record.gradient.cols() != batch.front().gradient.cols()) {
      return absl::InvalidArgumentError("gradient: got two shapes in one batch, want one");
    }
    if (record.gradient.size() == 0 || !std::isfinite(record.gradient.squaredNorm())) {
      return absl::InvalidArgumentError(
          "gradient: got none or one without a finite norm, want numbers");
    }
    if (record.row_epsilons.size() != 0 && (record.row_epsilons.size() != record.gradient.rows() ||
                                            !(record.row_epsilons.array() > 0).all())) {
      return absl::InvalidArgumentError(
          "row_epsilons: want none, or a positive one for each row of the gradient");
    }
  }
  return absl::OkStatus();
}

// Table 1: returns the records within three standard deviations of the mean norm.
std::vector<const RecordGradient*> WithoutOutliers(const std::vector<RecordGradient>& batch) {
  Eigen::ArrayXd norms(static_cast<Eigen::Index>(batch.size()));
  for (size_t i = 0; i < batch.size(); ++i) {
    norms[static_cast<Eigen::Index>(i)] = batch[i].gradient.norm();
  }
  const double mean = norms.mean();
  const double deviation = std::sqrt((norms - mean).square().mean());
  std::vector<const RecordGradient*> kept;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (std::abs(norms[static_cast<Eigen::Index>(i)] - mean) <= 3 * deviation) {
      kept.push_back(&batch[i]);
    }
  }
  return kept;
}

// Returns matrix + diag(row_scales) N.
Eigen::MatrixXd Noised(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& row_scales,
                       const NormalSource& normal) {
  Eigen::MatrixXd noised = matrix;
  for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
    for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
      noised(row, column) += row_scales[row] * normal();
    }
  }
  return noised;
}

}  // namespace

absl::StatusOr<PublishedRelease> ReleaseBatch(const std::vector<RecordGradient>& batch,
                                              const PublishedOptions& options,
                                              const NormalSource& normal) {
  RETURN_IF_ERROR(Validate(batch, options));
  PublishedRelease release;
  if (batch.empty()) return release;
  const std::vector<const RecordGradient*> kept = WithoutOutliers(batch);
  release.used = static_cast<int>(kept.size());
  const double count = release.used;

  std::vector<Factorization> factorizations;
  for (const RecordGradient* record : kept) {
    ASSIGN_OR_RETURN(Factorization factors, Factor(record->gradient, options.factorization));
    factorizations.push_back(std::move(factors));
    release.signal_norm += record->gradient.norm() / count;
  }
  release.scales = ScalesOf(factorizations, options.budget);
  const NoiseScales& scales = release.scales;

  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(batch.front().gradient.rows());
  for (const Factorization& factors : factorizations) {
    release.thresholds.embedding +=
        Noised(factors.embedding, scales.embedding_noise * ones, normal).norm() / count;
    release.thresholds.residual +=
        Noised(factors.residual, scales.residual_noise * ones, normal).norm() / count;
  }

  std::vector<Eigen::MatrixXd> noisy;
  for (size_t i = 0; i < kept.size(); ++i) {
    // (8): the noise of row j is the noise at epsilon, times epsilon / epsilon_j.
    const Eigen::VectorXd rows =
        kept[i]->row_epsilons.size() == 0
            ? ones
            : Eigen::VectorXd(options.budget.epsilon * kept[i]->row_epsilons.cwiseInverse());
    const Factorization& factors = factorizations[i];
    const Eigen::MatrixXd embedding = Noised(
        factors.embedding, scales.embedding_noise * release.thresholds.embedding * rows, normal);
    const Eigen::MatrixXd residual = Noised(
        factors.residual, scales.residual_noise * release.thresholds.residual * rows, normal);
    noisy.push_back(embedding * factors.basis + residual);
    release.noisy_norm += noisy.back().norm() / count;
  }
  release.thresholds.gradient = release.noisy_norm;

  release.gradient =
      Eigen::MatrixXd::Zero(batch.front().gradient.rows(), batch.front().gradient.cols());
  for (const Eigen::MatrixXd& each : noisy) {
    const double norm = each.norm();
    // 0 / 0 counts as norm <= C_g.
    const double factor =
        norm <= release.thresholds.gradient ? 1 : release.thresholds.gradient / norm;
    release.gradient += (factor / count) * each;
  }
  return release;
}

}  // namespace epsledger::trainers::fsdp_published
