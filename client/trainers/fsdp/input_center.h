#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_INPUT_CENTER_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_INPUT_CENTER_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::fsdp {

// What a private mean is made from; public.
struct CenterOptions {
  double bound = 1;         // inputs are clipped to this norm; in [1e-15, 1e15]
  double public_count = 1;  // near the number of records; > 0
};

// Returns the sum over the columns x of x min(1 / bound, 1 / ||x||). A column contributes a
// function of itself alone, of norm at most 1 as computed, and the sum is exact (exact_sum.h): data
// sets that differ by one record have sums at distance at most 1 (2 if a record is replaced).
// Columns that are not finite contribute 0. NOT private: for a GradientRelease, with contribution
// 1. REQUIRES: at most kMaxRecords columns.
Eigen::VectorXd ClippedInputSum(const network::Matrix<float>& inputs, double bound);

// Returns a private mean of the records' inputs, of their first views: what `release` returned for
// the sum above, times bound / public_count. One release, so one charge of its event. The status is
// that of `release`, INVALID_ARGUMENT for options outside their domains or too many records, or
// INTERNAL for a released vector that cannot be used.
absl::StatusOr<network::Vector<float>> ReleaseInputCenter(const LabeledColumns& records,
                                                          const CenterOptions& options,
                                                          GradientRelease& release);

// Subtracts `center` from the inputs at all views of every record. Entry by entry: one record more
// changes no bit of another. REQUIRES: as many entries as inputs; or none, then without effect.
void SubtractCenter(const network::Vector<float>& center, LabeledColumns& records);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_INPUT_CENTER_H_
