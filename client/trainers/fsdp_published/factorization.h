#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_FACTORIZATION_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_FACTORIZATION_H_

#include <Eigen/Core>
#include <cstdint>

#include "absl/status/statusor.h"

namespace epsledger::trainers::fsdp_published {

// One record's gradient of a layer, g = embedding * basis + residual. d inputs, p outputs, rank k.
struct Factorization {
  Eigen::MatrixXd embedding;  // V: d x k
  Eigen::MatrixXd basis;      // H: k x p
  Eigen::MatrixXd residual;   // Phi: d x p
};

enum class FactorizationMethod {
  // Minimizes equation (2) by plain gradient descent, as the paper does.
  kGradientDescent,
  // The minimum of (2) for regularization -> 0 by singular values, balanced: V = U sqrt(S),
  // H = sqrt(S) W^T. For a fully connected layer g = x delta^T has rank one, so V H = g and Phi is
  // exactly 0. Gradient descent converges to this.
  kExact,
};

struct FactorizationOptions {
  FactorizationMethod method = FactorizationMethod::kGradientDescent;
  int rank = 50;  // k
  // Not stated in the paper.
  int steps = 100;
  double learning_rate = 0.1;
  double regularization = 1e-3;  // theta
  uint64_t seed = 1;             // of the initial factors; the same for every record
};

// Factors `gradient` by minimizing
//
//   (2)  sum_ij (g_ij - V_i H_j)^2 + theta ||V||_F^2 + theta ||H||_F^2
//
// over V and H. The minimum is not unique, since V H = (V Q)(Q^T H): V alone has no meaning, and
// for two seeds it differs by more than its norm where V H agrees. Gradient descent starts from
// draws of N(0, 1 / k) scaled by sqrt(||g||) and steps by learning_rate / ||g||, so that it does
// not depend on the gradient's scale; a zero gradient has zero factors. INVALID_ARGUMENT unless
// rank is in [1, 10^4], steps in [0, 10^6], learning_rate and regularization finite and >= 0, and
// the gradient finite and not empty. O(d p k steps), or of a singular value decomposition.
absl::StatusOr<Factorization> Factor(const Eigen::MatrixXd& gradient,
                                     const FactorizationOptions& options);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_FACTORIZATION_H_
