#ifndef EPSLEDGER_ACCOUNTING_MATRIX_TOEPLITZ_H_
#define EPSLEDGER_ACCOUNTING_MATRIX_TOEPLITZ_H_

#include <cstdint>
#include <vector>

#include "accounting/matrix/participation.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// The first column c of a lower triangular Toeplitz matrix: lower[t] <= c_t <= upper[t].
struct ToeplitzCoefficients {
  std::vector<double> lower;
  std::vector<double> upper;
};

// c_t = coefficients[t], and 0 from their number on. REQUIRES: at most `steps` coefficients.
ToeplitzCoefficients GivenCoefficients(const std::vector<double>& coefficients, int64_t steps);

// c_0 = 1, c_t = sum_i output_scales[i] decays[i]^(t - 1), within 16 (t + 16) 2^-52 c_t.
// REQUIRES: scales in [0, 1e30], as many decays in [0, 1], at most 16.
ToeplitzCoefficients BufferedCoefficients(const std::vector<double>& output_scales,
                                          const std::vector<double>& decays, int64_t steps);

// The coefficients of (1 - x)^(-1/2) below `bands`, and 0 from there on.
ToeplitzCoefficients SquareRootCoefficients(int64_t bands, int64_t steps);

// Returns bounds on the square of the sensitivity of the matrix (sensitivity.h). The upper one is
// that of the smallest coefficients without increase that are at least |c_t|. Where 0 <= c_t never
// increases the bounds differ by their rounding only (README, "Toeplitz matrices"; [KL24] Thm 2).
// For other coefficients the lower bound is that of one participation, or of every
// min_separation-th step. Linear in the number of steps.
// REQUIRES: as many coefficients as steps, all within [-1e31, 1e31].
Bounds ToeplitzSquaredSensitivity(const ToeplitzCoefficients& coefficients,
                                  const Participation& participation);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_MATRIX_TOEPLITZ_H_
