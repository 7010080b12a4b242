#ifndef EPSLEDGER_ACCOUNTING_RENYI_EVENT_PARAMETERS_H_
#define EPSLEDGER_ACCOUNTING_RENYI_EVENT_PARAMETERS_H_

// The one number of an event from which its Renyi divergences follow.

#include <optional>
#include <vector>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// Returns the noise multiplier of one Gaussian release with the loss of all of `uses`, rounded
// down; nullopt if one of them is not a Gaussian release. The joint shift of Gaussian releases on
// one sample is a vector, and a rotation makes them one release of 1/z^2 = sum 1/z_i^2.
std::optional<double> JointNoiseMultiplier(const std::vector<Use>& uses, double shift);

// Returns the epsilon of an event of which only epsilon-DP is used.
std::optional<double> PureEpsilon(const MechanismEvent& event, const Setting& setting);

// The index of a noisy maximum with Laplace or exponential noise. Its PureEpsilon is a distance in
// scales at which Laplace noise is told apart at least as well (accounting/analytics/README.md,
// "Noisy maxima").
bool IsNoisyMax(const MechanismEvent& event);

// Returns the length of the interval in which the losses of the event lie ("bounded range").
std::optional<double> BoundedRange(const MechanismEvent& event, const Setting& setting);

// Returns the (epsilon, delta) of an event that declares one.
std::optional<ApproximateDpParameters> ApproximatePair(const MechanismEvent& event);

// Noise of a symmetric law added to a sum: reflection about the midpoint of two neighbors' sums
// exchanges their output laws, and a record that counts as zero equals a missing record.
bool IsSymmetricNoise(const MechanismEvent& event);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_EVENT_PARAMETERS_H_
