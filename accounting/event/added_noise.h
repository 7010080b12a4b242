#ifndef EPSLEDGER_ACCOUNTING_EVENT_ADDED_NOISE_H_
#define EPSLEDGER_ACCOUNTING_EVENT_ADDED_NOISE_H_

#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// True if the event is one release of a sum with noise added, so that a record that is left out
// contributes nothing, and no more than that is different: a Gaussian, Laplace, discrete Gaussian,
// discrete Laplace or mixture of Gaussians. Of every other kind only a bound under the relation
// that it is charged under is known.
bool IsAddedNoise(const MechanismEvent& event);

// True if the event is made of such releases, sampled by Poisson or not, and of nothing else: its
// cost is then known under add-or-remove-one as under replace-one.
bool IsMadeOfAddedNoise(const MechanismEvent& event);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_ADDED_NOISE_H_
