#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_CHARGED_NORMAL_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_CHARGED_NORMAL_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"
#include "epsledger/permit.h"

namespace epsledger::trainers {

// Returns `size` independent draws of N(0, standard_deviation^2), and spends the permit: for
// mechanisms whose noise does not go on a sum, and which therefore are charged as another event
// than gaussian. (For sums there is AddGaussianNoise.)
//
// Randomness is OpenSSL's RAND_bytes; there is no seed. One draw is the cosine half of a Box-Muller
// pair of 53-bit uniform numbers. The floating-point caveat of epsledger/noise.h holds here too,
// and tails end at 8.6 standard deviations. INVALID_ARGUMENT unless the permit has exactly one use,
// size is >= 1 and standard_deviation finite and > 0; INTERNAL if the operating system gave no
// randomness.
absl::StatusOr<Eigen::VectorXd> DrawChargedNormals(Permit permit, double standard_deviation,
                                                   Eigen::Index size);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_CHARGED_NORMAL_H_
