#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_GRADIENT_NORMS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_GRADIENT_NORMS_H_

#include <Eigen/Core>

#include "client/trainers/network/shape.h"

namespace epsledger::trainers::fsdp {

// The norm of one part (embedding or residual) of a record's gradient, over all layers.
struct PartNorm {
  // At least the norm of the mean over the record's views. NaN or infinite if any view is not
  // finite.
  double norm = 0;
  // The largest norm of one view, divided by the number of views; 0 for records of one view.
  double largest_view = 0;
  // A bound on what rounding to the grid can add to the norm of the scaled gradient; 0 for records
  // of one view, whose entries only get smaller.
  double rounding = 0;
};

// Adds up the norms of one part of the gradients of a chunk's records, layer by layer.
//
// With views, record i has the columns i, i + records, i + 2 records, ... and its gradient is the
// mean of theirs. The norm of a mean of outer products comes from inner products of both sides:
// || (1/m) sum_c l_c r_c^T ||^2 = (1/m^2) sum_{c, d} (l_c . l_d) (r_c . r_d). The outer products
// can cancel, so the error of these sums in double is added to the result.
class GradientNorms {
 public:
  GradientNorms(Eigen::Index records, Eigen::Index views);

  // Adds a layer whose gradients are left_i right_i^T. With views `right` must be on the grid
  // (OnGrid). No effect for an empty `left`.
  void AddOuterProducts(const network::Matrix<float>& left, const network::Matrix<float>& right);
  // Adds a layer whose gradients are the columns, one a record: the mean over views is formed.
  void AddColumns(const network::Matrix<float>& gradients);

  PartNorm of(Eigen::Index record) const;

 private:
  void AddViews(Eigen::Index record, const network::Matrix<float>& left,
                const network::Matrix<float>& right);

  Eigen::Index views_;
  Eigen::ArrayXd squares_;        // of the mean
  Eigen::ArrayXXd view_squares_;  // records x views, without the division; empty for one view
  Eigen::ArrayXd rounding_squares_;
  double largest_dimension_ = 0;  // of an inner product
};

// How the parts of one record's gradient are clipped.
struct ClipShare {
  double clip = 1;
  double share = 1;  // the norm that a clipped part has
};

// Returns f <= share min(1 / clip, 1 / norm) such that the part, scaled by f and rounded to the
// grid, has norm at most share, and every view's entries are within kLargestOfAView. 0 or more.
// REQUIRES: a finite norm, clip > 0.
double ClipFactor(const PartNorm& part, const ClipShare& clip);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_GRADIENT_NORMS_H_
