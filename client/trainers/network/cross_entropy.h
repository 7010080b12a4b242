#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_CROSS_ENTROPY_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_CROSS_ENTROPY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// One entry and one column a sample.
template <class T>
struct SampleLosses {
  Eigen::ArrayXd losses;
  Matrix<T> gradients;  // with respect to the logits
};

// Returns loss_i = log sum_c exp(z_c) - z_y >= 0 of every column z of `logits` with label y, and
// its gradient softmax(z) - unit vector y, of norm at most sqrt(2). No overflow for any finite
// logits; a column with a NaN or an infinity gives NaN in that column and no other. The losses of
// private records must not leave the process. INVALID_ARGUMENT unless there is one label a column,
// each in [0, logits.rows()).
template <class T>
absl::StatusOr<SampleLosses<T>> CrossEntropy(const Matrix<T>& logits,
                                             const std::vector<int>& labels);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_CROSS_ENTROPY_H_
