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
// come through. It reads every record without noise: on private records the number must not leave
// the process. O(non-zeros). REQUIRES: theta.size() == rows.features.cols(), a valid loss.
double LossSum(const MarginLoss& loss, const LabeledRows& rows, const Eigen::VectorXd& theta);

// The numbers of the records in one batch; see PoissonSampler. Private.
using Batch = std::vector<int>;

// The private records, with the questions that training asks of them.
//
// Invariant (sensitivity): the per-record terms of GradientSum and of ComparisonSum are functions
// of public values and that record alone, and have norm at most contribution(), respectively the
// square root of the number of candidates. So two data sets that differ by one record that is there
// or not (add-or-remove-one) have sums at most that far apart, by one record replaced at most twice
// that. This holds for the numbers as computed, not only in exact arithmetic, for up to
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
  // infinities are taken and contribute the zero vector.
  static absl::StatusOr<LinearLoss> Create(const MarginLoss& loss, LabeledRows rows,
                                           double contribution);

  // Returns the same records with every feature outside `columns` as 0, and another bound. Create's
  // errors. REQUIRES: columns are ascending and in [0, feature_count()).
  absl::StatusOr<LinearLoss> OnColumns(const std::vector<int>& columns, double contribution) const;

  // Returns the sum over records of clip(Residual(theta . x, y) x, contribution()), with
  // clip(g, C) = g min(1, C / ||g||), and the zero vector for a record whose term is not finite.
  // NOT private: hand it to a GradientRelease and to nothing else.
  //
  // If LargestResidual * ||x|| <= contribution() for all records, nothing is clipped and this is
  // the gradient of LossSum. Otherwise it is the gradient of another convex function with the same
  // Lipschitz bound: clipping clamps the residual, and a clamped nondecreasing function of the
  // margin m is nondecreasing and no steeper.
  //
  // Every term is rounded toward zero to a multiple of 2^-35 times the power of two at or below
  // contribution(), and the terms are added as integers. That costs at most 3e-11 contribution() a
  // record and coordinate, and makes the sum independent of the records' order and the sensitivity
  // exact: a floating-point sum would let one record change the rounding of all the others. Beyond
  // kExactSumRecords records the last conversion to double rounds, by at most
  // 2^-53 * records * contribution() a coordinate.
  //
  // O(non-zeros + size); about 2 ms for 32,561 records of 15 non-zeros.
  // REQUIRES: theta.size() == feature_count().
  Eigen::VectorXd GradientSum(const Eigen::VectorXd& theta) const;

  // The same over the records of a batch. REQUIRES: each number in [0, record_count()), once.
  Eigen::VectorXd GradientSum(const Eigen::VectorXd& theta, const Batch& batch) const;

  // Returns, for each candidate, the sum over records of
  //
  //   clamp((loss(candidate) - loss(theta)) / (contribution() ||candidate - theta||), -1, 1),
  //
  // 0 for a candidate equal to theta, and 0 for a record whose term is a NaN. One record's terms
  // lie in [-1, 1], so that its vector has norm at most sqrt(candidates.size()): terms are rounded
  // to multiples of 2^-35 as in GradientSum. Nothing is clamped where nothing is clipped in
  // GradientSum: a loss is LargestResidual-Lipschitz in the margin. NOT private.
  // `batch`: as above; null for all records. O(candidates * non-zeros).
  Eigen::VectorXd ComparisonSum(const Eigen::VectorXd& theta,
                                const std::vector<Eigen::VectorXd>& candidates,
                                const Batch* batch) const;

  // Returns LossSum, exactly, of the private records that contribute to GradientSum: those that do
  // not (all zero, or with a NaN) add a constant that is left out. NOT private, and no sum of a
  // GradientRelease: for the published algorithm, and for experiments on records that are public.
  double ExactLossSum(const Eigen::VectorXd& theta) const;

  Eigen::Index feature_count() const { return rows_.features.cols(); }
  // Private under add-or-remove-one: for drawing batches.
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
