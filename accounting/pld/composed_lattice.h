#ifndef EPSLEDGER_ACCOUNTING_PLD_COMPOSED_LATTICE_H_
#define EPSLEDGER_ACCOUNTING_PLD_COMPOSED_LATTICE_H_

#include "accounting/numeric/bounds.h"
#include "accounting/numeric/constants.h"
#include "accounting/pld/lattice_spectrum.h"

namespace epsledger::accounting {

// The composed profile of one direction, known at the multiples of an interval, from above and from
// below. It can be evaluated at any epsilon: between two points a profile lies below the chord,
// which is linear in e^epsilon.
struct ComposedLattice {
  double interval = 0;
  ComposedSums sums;
  double largest_index = 0;  // no finite loss lies above largest_index * interval
  // Upper and lower bound on log of the mass at infinity.
  double log_infinity_above = -kInfinity;
  double log_infinity_below = -kInfinity;

  // Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta; +inf where none was
  // found. The search starts at `near`. Cost: some 40 evaluations of each sum.
  Bounds Epsilon(double log_delta, double near) const;
  // Bounds on log delta(epsilon), epsilon finite. Cost: two evaluations of each sum.
  Bounds LogDelta(double epsilon) const;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_COMPOSED_LATTICE_H_
