#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_EVALUATION_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_EVALUATION_H_

#include <Eigen/Core>

#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/margin_loss.h"
#include "client/trainers/istdp/regularizer.h"

namespace epsledger::trainers::istdp {

// These functions read records exactly, so they accept only held-out records. The same numbers on
// the private training records would be uncharged releases: two data sets that differ in one record
// give two objectives, and whoever sees the number can distinguish them. The held-out records get
// no guarantee from epsledger; treat them as public or do not publish the numbers.

// Returns the fraction in [0, 1] of records whose label equals [theta . x > 0] (a margin of 0 or
// NaN is class 0); NaN if there are no records. O(non-zeros). REQUIRES: theta.size() ==
// held_out.rows.features.cols().
double Accuracy(const HeldOutRows& held_out, const Eigen::VectorXd& theta);

// Returns the mean loss over the records plus Penalty(regularizer, theta); NaN if there
// are no records. Divides by their exact count, which is not secret here. O(non-zeros). REQUIRES:
// theta.size() == held_out.rows.features.cols(), a valid regularizer.
double Objective(const HeldOutRows& held_out, const MarginLoss& loss,
                 const Regularizer& regularizer, const Eigen::VectorXd& theta);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_EVALUATION_H_
