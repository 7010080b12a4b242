#ifndef EPSLEDGER_NOISE_H_
#define EPSLEDGER_NOISE_H_

#include <span>

#include "absl/status/status.h"
#include "epsledger/permit.h"

namespace epsledger {

// Adds to every coordinate of `sum` an independent draw of N(0, (z * contribution)^2), where z is
// the noise multiplier that `permit` was charged for, and spends the permit. A call without a
// permit, or with one that is not moved in, does not compile.
//
// The caller vouches for `contribution`: no record moves `sum` by more than that in L2 norm
// (add-or-remove-one and replace-special; under replace-one by no more than twice that). It is in
// (0, inf). For poissonSampled{gaussian} permits `sum` must run over a Poisson sample.
//
// On any error `sum` is unchanged, nothing may be released, and the permit is spent all the same:
//   INVALID_ARGUMENT   the permit's event is neither gaussian nor poissonSampled{gaussian}; it has
//                      not exactly one use; contribution is not a normal positive number, or z *
//                      contribution is below 1e-295; or a coordinate is NaN or infinite.
//   OUT_OF_RANGE       a noised coordinate would overflow.
//   INTERNAL           the operating system gave no randomness.
//
// Randomness is a keystream of AES-256 in counter mode. OpenSSL's RAND_bytes gives each call a new
// key; no seed can be set. One draw is (g1 + g2 + g3 + g4) / 2 of four standard normals [HB21] from
// four independent Box-Muller pairs. Two neighboring coordinates share the pairs: one takes the
// cosine halves, which are independent of the sine halves. The radius comes from a uniform number
// of full 53-bit precision at any magnitude, so that tails are not cut. The noised coordinate is
// rounded to a multiple of a power of two near 2^-40 z * contribution, which does not depend on the
// data.
//
// What is not claimed: the guarantee of the Gaussian mechanism is for real numbers. The support of
// a floating-point sampler has holes, through which low bits can reveal the value under the noise
// ([Mir12] for Laplace, [JMRO22] for Gaussian). The four draws and the rounding are the known
// practical mitigations, not a proof; an exact sampler (discrete Gaussian) would give a proof.
//
// [Mir12] Mironov, "On significance of the least significant bits for differential privacy", CCS
// 2012. [HB21] Holohan and Braghin, "Secure random sampling in differential privacy", ESORICS 2021.
// [JMRO22] Jin, McMurtry, Rubinstein and Ohrimenko, "Are we there yet? Timing and floating-point
// attacks on differential privacy systems", IEEE S&P 2022.
//
// Cost: about 0.1 us a coordinate (measured on a busy core). Safe to call from many threads with
// different arguments.
[[nodiscard]] absl::Status AddGaussianNoise(Permit permit, double contribution,
                                            std::span<double> sum);

// Overwrites every element of `draws` with an independent draw of N(0, standard_deviation^2) and
// spends the permit. It is for mechanisms whose noise is not added to a sum (for example objective
// perturbation) and which are therefore charged as another event than gaussian. The permit shows
// that something was charged, not that the event covers this noise: the caller vouches for that.
//
// The sampler and its limits are those of AddGaussianNoise; the draws are not rounded to a grid. On
// any error `draws` is unchanged, nothing may be released, and the permit is spent all the same:
//   INVALID_ARGUMENT   the permit has not exactly one use, or standard_deviation is not a normal
//                      positive number.
//   OUT_OF_RANGE       a draw would overflow.
//   INTERNAL           the operating system gave no randomness.
[[nodiscard]] absl::Status DrawGaussianNoise(Permit permit, double standard_deviation,
                                             std::span<double> draws);

}  // namespace epsledger

#endif  // EPSLEDGER_NOISE_H_
