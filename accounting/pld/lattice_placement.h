#ifndef EPSLEDGER_ACCOUNTING_PLD_LATTICE_PLACEMENT_H_
#define EPSLEDGER_ACCOUNTING_PLD_LATTICE_PLACEMENT_H_

#include <vector>

#include "accounting/numeric/bounds.h"
#include "accounting/pld/loss_measure.h"
#include "accounting/profile/privacy_profile.h"

// Where lattices are put. Nothing here makes a bound: a lattice in the wrong place is wide, not
// wrong.

namespace epsledger::accounting {

// The losses that matter for one use: from where P[L < lower] is about 1e-14, or the smallest loss,
// to where delta(upper) <= e^log_tail, or the largest loss. About 100 evaluations of the profile.
Bounds LossRange(const PrivacyProfile& profile, double log_tail);

// The lattice points of this interval that cover the range.
Lattice CoveringLattice(const PrivacyProfile& profile, Bounds range, double interval);

// The interval in (interval / 2, interval], with 28 significant bits, whose multiples come closest
// from below to the atoms of the losses: `spacings[i]`, weighed by `weights[i]`. One spacing alone
// is met to 1e-8. Spacings below interval / 2, zero among them, do not count.
double AlignedInterval(double interval, const std::vector<double>& spacings,
                       const std::vector<double>& weights);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_LATTICE_PLACEMENT_H_
