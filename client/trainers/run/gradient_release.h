#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_GRADIENT_RELEASE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_GRADIENT_RELEASE_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"

namespace epsledger::trainers {

// The only way from an exact sum over private records to a vector that training may look at.
//
// The production implementation charges the ledger for one Gaussian event, waits for the durable
// ACCEPTED, and spends the permit on adding N(0, (noise_multiplier * contribution)^2) to each
// coordinate. Everything that training computes is a function of public values and of the vectors
// that Release returned, so nothing else is charged.
class GradientRelease {
 public:
  virtual ~GradientRelease() = default;

  // Returns a private version of `exact_sum`, of the same size. `contribution` bounds the norm of
  // one record's term in the sum; under replace-one the sum moves by up to twice that.
  //
  // FAILED_PRECONDITION: the ledger refused (budget spent, frozen, closed, not in the plan).
  // Nothing was released, and training ends with the current result.
  // Any other status: nothing was released, but the charge may have been recorded.
  virtual absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                                  double contribution) = 0;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_GRADIENT_RELEASE_H_
