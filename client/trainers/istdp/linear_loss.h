#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_LINEAR_LOSS_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_LINEAR_LOSS_H_

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/margin_loss.h"

namespace epsledger::trainers::istdp {

// Returns the sum over the records of MarginLossValue at theta . x; NaN and infinities in the data
// propagate. It reads every record without noise: for private records the number must not leave the
// process. O(non-zeros).
// REQUIRES: theta.size() == rows.features.cols(), a valid loss.
double LossSum(const MarginLoss& loss, const LabeledRows& rows, const Eigen::VectorXd& theta);

// The numbers of the records in one batch; see PoissonSampler. Private.
using Batch = std::vector<int>;

// The private records, with the sums over them that training needs.
//
// Invariant (sensitivity): the per-record terms of GradientSum and of ComparisonSum are functions
// of public values and that record alone, and have norm at most contribution() and at most the
// square root of the number of candidates, respectively. So the sums of two data sets differ by at
// most that if one has one more record (add-or-remove-one), and by at most twice that if one record
// is replaced. This holds for the numbers as computed, not only in exact arithmetic, for up to
// kExactSumRecords records (see GradientSum).
//
// Immutable; safe to use from many threads.
class LinearLoss {
 public:
  static constexpr int64_t kExactSumRecords = int64_t{1} << 17;
  // More would overflow the integer sum.
  static constexpr int64_t kMaxRecords = int64_t{1} << 26;

  // Takes the loss, the records and the PUBLIC bound on one record's gradient ("clip norm").
  // INVALID_ARGUMENT unless the loss is valid, contribution is in [1e-100, 1e100], labels are 0 or
  // 1 and as many as there are rows, and there are at most kMaxRecords rows. Rows with NaN or
  // infinities are accepted and contribute the zero vector.
  static absl::StatusOr<LinearLoss> Create(const MarginLoss& loss, LabeledRows rows,
                                           double contribution);

  // Returns the same records with every feature outside `columns` set to 0, and another bound.
  // Errors as Create. REQUIRES: columns are ascending and in [0, feature_count()).
  absl::StatusOr<LinearLoss> OnColumns(const std::vector<int>& columns, double contribution) const;

  // Returns the sum over records of clip(Residual(theta . x, y) x, contribution()), with
  // clip(g, C) = g min(1, C / ||g||), and the zero vector for a record whose term is not finite.
  // NOT private: pass it only to a GradientRelease.
  //
  // If LargestResidual * ||x|| <= contribution() for all records, nothing is clipped and this is
  // the gradient of LossSum. Otherwise it is the gradient of another convex function with the same
  // Lipschitz bound: clipping clamps the residual, and a clamped nondecreasing function of the
  // margin m is nondecreasing and no steeper.
  //
  // Every term is rounded toward zero to a multiple of 2^-35 times the power of two at or below
  // contribution(), and the terms are added as integers. The error is at most 3e-11 contribution()
  // a record and coordinate. The sum does not depend on the records' order, and the sensitivity is
  // exact: in a floating-point sum one record could change the rounding of all others. Beyond
  // kExactSumRecords records the last conversion to double rounds, by at most 2^-53 * records *
  // contribution() a coordinate.
  //
  // O(non-zeros + size); about 2 ms for 32,561 records of 15 non-zeros.
  // REQUIRES: theta.size() == feature_count().
  Eigen::VectorXd GradientSum(const Eigen::VectorXd& theta) const;

  // The same over the records of a batch. REQUIRES: each number is in [0, record_count()) and
  // occurs once.
  Eigen::VectorXd GradientSum(const Eigen::VectorXd& theta, const Batch& batch) const;

  // Returns, for each candidate, the sum over records of
  //
  //   clamp((loss(candidate) - loss(theta)) / (contribution() ||candidate - theta||), -1, 1),
  //
  // 0 for a candidate equal to theta, and 0 for a record whose term is a NaN. One record's terms
  // are in [-1, 1], so its vector has norm at most sqrt(candidates.size()). Terms are rounded to
  // multiples of 2^-35 as in GradientSum. Nothing is clamped where nothing is clipped in
  // GradientSum: a loss is LargestResidual-Lipschitz in the margin. NOT private.
  // `batch`: as above; null for all records. O(candidates * non-zeros).
  Eigen::VectorXd ComparisonSum(const Eigen::VectorXd& theta,
                                const std::vector<Eigen::VectorXd>& candidates,
                                const Batch* batch) const;

  // Returns the exact LossSum of the private records that contribute to GradientSum; the others
  // (all zero, or with a NaN) would add a constant, which is left out. NOT private, and not for a
  // GradientRelease: only for the published algorithm, and for experiments on public records.
  double ExactLossSum(const Eigen::VectorXd& theta) const;

  Eigen::Index feature_count() const { return rows_.features.cols(); }
  // Private under add-or-remove-one; used to draw batches.
  Eigen::Index record_count() const { return rows_.features.rows(); }
  double contribution() const { return contribution_; }
  const MarginLoss& margin_loss() const { return loss_; }

 private:
  LinearLoss(const MarginLoss& loss, LabeledRows rows, double contribution);

  double Margin(Eigen::Index row, const double* weights) const;
  // Adds a record's clipped gradient, in units of grid_.
  void AddGradient(Eigen::Index row, const double* weights, int64_t* sum) const;

  MarginLoss loss_;
  LabeledRows rows_;
  double contribution_;
  double grid_;  // a power of two: conversions from and to multiples of it are exact
  // The largest |coefficient| of each row that keeps coefficient * row within contribution_; 0 for
  // rows that must not contribute.
  std::vector<double> largest_coefficient_;
};

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_LINEAR_LOSS_H_
