#ifndef EPSLEDGER_ACCOUNTING_MATRIX_GRAM_H_
#define EPSLEDGER_ACCOUNTING_MATRIX_GRAM_H_

#include <vector>

#include "accounting/matrix/participation.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Returns bounds on X = C^T C, row by row. REQUIRES: `entries` are the rows of C with `columns`
// entries each, within [-1e30, 1e30].
std::vector<Bounds> GramMatrix(const std::vector<double>& entries, int64_t columns);

// Returns bounds on the square of the sensitivity (sensitivity.h) of any matrix with C^T C = X.
// The upper one is found by a dynamic program over |X| that looks back, from each step at the
// earlier ones, or ahead, whichever is smaller; the lower one is what its set of steps attains
// (README, "Any matrix"). They differ by rounding only where X_ij = 0 for |i - j| >=
// min_separation, for one participation, and for Toeplitz matrices whose coefficients are >= 0 and
// never increase. Cost: steps^2 Most(). REQUIRES: steps^2 entries.
Bounds GramSquaredSensitivity(const std::vector<Bounds>& gram, const Participation& participation);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_MATRIX_GRAM_H_
