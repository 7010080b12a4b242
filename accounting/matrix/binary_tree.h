#ifndef EPSLEDGER_ACCOUNTING_MATRIX_BINARY_TREE_H_
#define EPSLEDGER_ACCOUNTING_MATRIX_BINARY_TREE_H_

#include "accounting/matrix/participation.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Returns bounds on the square of the sensitivity (sensitivity.h) of the release of every complete
// dyadic block of steps: for each l the sums over [j 2^l, (j + 1) 2^l), (j + 1) 2^l <= steps. They
// are equal if min_separation is a power of two, and for one participation: floor(log2 steps) + 1
// (README, "Binary trees"). Exact as integers up to 2^53, rounded outward beyond.
Bounds BinaryTreeSquaredSensitivity(const Participation& participation);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_MATRIX_BINARY_TREE_H_
