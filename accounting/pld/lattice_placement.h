#ifndef EPSLEDGER_ACCOUNTING_PLD_LATTICE_PLACEMENT_H_
#define EPSLEDGER_ACCOUNTING_PLD_LATTICE_PLACEMENT_H_

#include <vector>

#include "accounting/numeric/bounds.h"
#include "accounting/pld/loss_measure.h"
#include "accounting/profile/privacy_profile.h"

// Chooses the placement of lattices. Nothing here makes a bound: a lattice in the wrong place gives
// wide bounds, not wrong ones.

namespace epsledger::accounting {

// Returns the relevant losses of one use: from where P[L < lower] is about 1e-14, or the smallest
// loss, to where delta(upper) <= e^log_tail, or the largest loss. About 100 evaluations of the
// profile.
Bounds LossRange(const PrivacyProfile& profile, double log_tail);

// Returns the lattice points of this interval that cover the range.
Lattice CoveringLattice(const PrivacyProfile& profile, Bounds range, double interval);

// Returns the interval in (interval / 2, interval], with 28 significant bits, whose multiples come
// closest from below to the atoms of the losses: `spacings[i]`, weighted by `weights[i]`. A single
// spacing is met to 1e-8. Spacings below interval / 2, zero among them, do not count.
double AlignedInterval(double interval, const std::vector<double>& spacings,
                       const std::vector<double>& weights);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_LATTICE_PLACEMENT_H_
