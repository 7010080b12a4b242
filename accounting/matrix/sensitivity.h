#ifndef EPSLEDGER_ACCOUNTING_MATRIX_SENSITIVITY_H_
#define EPSLEDGER_ACCOUNTING_MATRIX_SENSITIVITY_H_

#include "accounting/event/mechanism_event.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Returns bounds on the sensitivity of C in contributions: the largest Frobenius norm of C U, where
// the rows of U have norm <= 1 and are zero outside of one set of steps in which a privacy unit may
// take part (participation.h). lower <= sensitivity <= upper, rounding included; 0 only for a
// matrix of zeros. Source: accounting/matrix/README.md. Cost: linear in the number of steps, of
// MATRIX steps^2 times the number of participations. REQUIRES: the event is valid.
Bounds MatrixSensitivity(const MatrixMechanism& mechanism);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_MATRIX_SENSITIVITY_H_
