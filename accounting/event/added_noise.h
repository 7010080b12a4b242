#ifndef EPSLEDGER_ACCOUNTING_EVENT_ADDED_NOISE_H_
#define EPSLEDGER_ACCOUNTING_EVENT_ADDED_NOISE_H_

#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// True if the event is one release of a sum with noise added: a Gaussian, Laplace, discrete
// Gaussian, discrete Laplace or mixture of Gaussians. A record that is left out then contributes
// nothing, and nothing else changes. For every other kind only a bound under the relation of its
// charge is known.
bool IsAddedNoise(const MechanismEvent& event);

// True if what one record contributes is bounded, so that replacing it is bounded too: added noise,
// treeAggregation and matrixMechanism.
bool HasKnownContribution(const MechanismEvent& event);

// True if the event consists only of releases with added noise, Poisson-sampled or not: its cost is
// then known under add-or-remove-one and under replace-one, and its output without a record has the
// law of its output with "nothing" in the record's place.
bool IsMadeOfAddedNoise(const MechanismEvent& event);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_ADDED_NOISE_H_
