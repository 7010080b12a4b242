#include "client/trainers/istdp/bb_step.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {

absl::Status ValidateStepBounds(const StepBounds& bounds) {
  if (!(std::isfinite(bounds.smallest) && bounds.smallest > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("StepBounds.smallest: got ", bounds.smallest, ", want a finite number > 0"));
  }
  if (!(std::isfinite(bounds.largest) && bounds.largest >= bounds.smallest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("StepBounds.largest: got ", bounds.largest,
                     ", want a finite number >= smallest = ", bounds.smallest));
  }
  return absl::OkStatus();
}

StepBounds DefaultStepBounds(double lipschitz_constant) {
  return {.smallest = 0.25 / lipschitz_constant, .largest = 100 / lipschitz_constant};
}

double BarzilaiBorweinStep(const StepDifferences& differences, const StepBounds& bounds) {
  const double numerator = differences.theta.squaredNorm();
  const double denominator = differences.theta.dot(differences.released_gradient);
  if (!(denominator > 0)) return bounds.largest;
  const double step = numerator / denominator;
  // Comparisons with NaN are false: inf / inf takes the first branch.
  if (!(step <= bounds.largest)) return bounds.largest;
  return step < bounds.smallest ? bounds.smallest : step;
}

}  // namespace epsledger::trainers::istdp
