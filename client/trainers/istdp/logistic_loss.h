#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOGISTIC_LOSS_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOGISTIC_LOSS_H_

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"

namespace epsledger::trainers::istdp {

// Returns R^2 / 4 >= the Lipschitz constant of the gradient of the MEAN logistic loss over any
// records with ||x|| <= R: the Hessian is the mean of p (1 - p) x x^T and p (1 - p) <= 1/4.
// A public number. REQUIRES: row_norm_bound finite and > 0.
double LipschitzConstant(double row_norm_bound);

// Returns the sum over the records of log(1 + exp(m)) - y m, m = theta . x; no overflow for any
// finite m; NaN and infinities in the data come through. It reads every record without noise: on
// private records the number must not leave the process. O(non-zeros).
// REQUIRES: theta.size() == rows.features.cols().
double LogisticLossSum(const LabeledRows& rows, const Eigen::VectorXd& theta);

// The private records, with the one question that training asks of them.
//
// Invariant (sensitivity): the per-record term of GradientSum is a function of theta and that
// record alone, and has norm at most contribution(). So two data sets that differ by one record
// that is there or not (add-or-remove-one) have sums at distance <= contribution(), by one record
// replaced at distance <= 2 contribution(). This holds for the numbers as computed, not only in
// exact arithmetic, for up to kExactSumRecords records (see GradientSum).
//
// Immutable; safe to use from many threads.
class LogisticLoss {
 public:
  static constexpr std::int64_t kExactSumRecords = std::int64_t{1} << 17;
  // More would overflow the integer sum.
  static constexpr std::int64_t kMaxRecords = std::int64_t{1} << 26;

  // Takes the records and the PUBLIC bound on one record's gradient ("clip norm").
  // INVALID_ARGUMENT unless contribution is in [1e-100, 1e100], labels are 0 or 1 and as many as
  // there are rows, and there are at most kMaxRecords rows. Rows with NaN or infinities are taken
  // and contribute the zero vector.
  static absl::StatusOr<LogisticLoss> Create(LabeledRows rows, double contribution);

  // Returns the sum over records of clip((sigmoid(theta . x) - y) x, contribution()), with
  // clip(g, C) = g min(1, C / ||g||), and the zero vector for a record whose term is not finite.
  // NOT private: hand it to a GradientRelease and to nothing else.
  //
  // If ||x|| <= contribution() for all records, nothing is clipped and this is the gradient of the
  // logistic loss. Otherwise it is the gradient of another convex function with the same Lipschitz
  // bound: clipping clamps the residual sigmoid(m) - y, and a clamped nondecreasing function of the
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

  Eigen::Index feature_count() const { return rows_.features.cols(); }
  double contribution() const { return contribution_; }

 private:
  LogisticLoss(LabeledRows rows, double contribution);

  LabeledRows rows_;
  double contribution_;
  double grid_;  // a power of two: conversions from and to multiples of it are exact
  // The largest |coefficient| of each row that keeps coefficient * row within contribution_; 0 for
  // rows that must not contribute.
  std::vector<double> largest_coefficient_;
};

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOGISTIC_LOSS_H_
