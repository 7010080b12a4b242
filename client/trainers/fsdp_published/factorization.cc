#include "client/trainers/fsdp_published/factorization.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <Eigen/SVD>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers::fsdp_published {
namespace {

absl::Status Validate(const Eigen::MatrixXd& gradient, const FactorizationOptions& options) {
  const auto error = [](const char* field, double got, const char* want) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": got ", got, ", want ", want));
  };
  if (options.rank < 1 || options.rank > 10000) return error("rank", options.rank, "[1, 10000]");
  if (options.steps < 0 || options.steps > 1000000) {
    return error("steps", options.steps, "[0, 1000000]");
  }
  if (!(options.learning_rate >= 0) || !std::isfinite(options.learning_rate)) {
    return error("learning_rate", options.learning_rate, "a finite number >= 0");
  }
  if (!(options.regularization >= 0) || !std::isfinite(options.regularization)) {
    return error("regularization", options.regularization, "a finite number >= 0");
  }
  if (gradient.size() == 0 || !gradient.allFinite()) {
    return absl::InvalidArgumentError("gradient: got none or one that is not finite, want numbers");
  }
  return absl::OkStatus();
}

Factorization ByGradientDescent(const Eigen::MatrixXd& gradient,
                                const FactorizationOptions& options) {
  const double norm = gradient.norm();
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal(0, std::sqrt(norm / options.rank));
  Factorization factors{.embedding = Eigen::MatrixXd(gradient.rows(), options.rank),
                        .basis = Eigen::MatrixXd(options.rank, gradient.cols()),
                        .residual = {}};
  for (double& entry : factors.embedding.reshaped()) {
    entry = normal(random) / std::sqrt(static_cast<double>(gradient.rows()));
  }
  for (double& entry : factors.basis.reshaped()) {
    entry = normal(random) / std::sqrt(static_cast<double>(gradient.cols()));
  }
  const double step = options.learning_rate / norm;
  for (int i = 0; i < options.steps; ++i) {
    const Eigen::MatrixXd error = factors.embedding * factors.basis - gradient;
    const Eigen::MatrixXd embedding_gradient =
        2 * (error * factors.basis.transpose() + options.regularization * factors.embedding);
    const Eigen::MatrixXd basis_gradient =
        2 * (factors.embedding.transpose() * error + options.regularization * factors.basis);
    factors.embedding -= step * embedding_gradient;
    factors.basis -= step * basis_gradient;
  }
  return factors;
}

Factorization BySingularValues(const Eigen::MatrixXd& gradient, int rank) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> decomposition(gradient,
                                                        Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& values = decomposition.singularValues();
  const Eigen::Index kept = std::min<Eigen::Index>(rank, values.size());
  Factorization factors{.embedding = Eigen::MatrixXd::Zero(gradient.rows(), rank),
                        .basis = Eigen::MatrixXd::Zero(rank, gradient.cols()),
                        .residual = {}};
  for (Eigen::Index i = 0; i < kept; ++i) {
    // Beyond the numerical rank, singular vectors are arbitrary and their factors would be noise.
    if (values[i] <= 1e-12 * values[0]) break;
    const double root = std::sqrt(values[i]);
    factors.embedding.col(i) = root * decomposition.matrixU().col(i);
    factors.basis.row(i) = root * decomposition.matrixV().col(i).transpose();
  }
  return factors;
}

}  // namespace

absl::StatusOr<Factorization> Factor(const Eigen::MatrixXd& gradient,
                                     const FactorizationOptions& options) {
  RETURN_IF_ERROR(Validate(gradient, options));
  const double norm = gradient.norm();
  if (norm == 0) {
    return Factorization{.embedding = Eigen::MatrixXd::Zero(gradient.rows(), options.rank),
                         .basis = Eigen::MatrixXd::Zero(options.rank, gradient.cols()),
                         .residual = Eigen::MatrixXd::Zero(gradient.rows(), gradient.cols())};
  }
  const bool exact = options.method == FactorizationMethod::kExact;
  Factorization factors =
      exact ? BySingularValues(gradient, options.rank) : ByGradientDescent(gradient, options);
  if (!factors.embedding.allFinite() || !factors.basis.allFinite()) {
    return absl::InvalidArgumentError(
        absl::StrCat("learning_rate: got ", options.learning_rate,
                     ", with which gradient descent diverges; want a smaller one"));
  }
  factors.residual = gradient - factors.embedding * factors.basis;
  // The remainder of an exact factorization is a rounding error, not a residual.
  if (exact && factors.residual.norm() <= 1e-12 * norm) factors.residual.setZero();
  return factors;
}

}  // namespace epsledger::trainers::fsdp_published
