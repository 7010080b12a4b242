#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_APPROXIMATE_DP_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_APPROXIMATE_DP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"

namespace epsledger::accounting {

// (epsilon, delta)-DP, each rounded up.
struct ApproximateDpParameters {
  double epsilon = 0;
  double delta = 0;
};

// Returns epsilon >= log(1 + num_buckets (1 - p) / p), the epsilon of randomized response over
// num_buckets values with flip probability p = noise_parameter, rounded up.
double RandomizedResponseEpsilon(double noise_parameter, int64_t num_buckets);

// Returns e >= log(1 + q (e^epsilon - 1)), at most epsilon. q in (0, 1].
double AmplifiedEpsilon(double epsilon, double q);

// Returns at least epsilon + mean tanh(epsilon / 2), the epsilon of the best outcome of a Poisson
// number of runs of an (epsilon, 0)-DP mechanism: its density is that of one run times mean e^{mean
// (q - 1)}, q the probability that a run is worse, and q moves by at most tanh(epsilon / 2)
// ([KOV15] Thm 3.1; accounting/renyi/README.md, "Selection").
double PoissonSelectionEpsilon(double epsilon, double mean);

// Returns the (epsilon, delta) of one use of an event for which it is unique: laplace ([DMNS06]
// Prop 1), discreteLaplace ([GRS12]), randomizedResponse, exponentialMechanism, permuteAndFlip,
// pureDp, approximateDp, unverifiedClaim, reportNoisyMax, aboveThreshold, partitionSelection with
// Laplace noise, truncatedGeometricSelection and shuffled, as if its reports had an order
// (analytics/); dominatingPair, with its largest finite loss and the mass of its infinite ones; a
// sample of such events, (log(1 + q (e^epsilon - 1)), q delta), by Poisson under add-or-remove-one
// ([BBG18] Thm 8) and of fixed size under replace-one
// ([BBG18] Thm 9); repeatAndSelect of such events without a delta, (2 + shape) epsilon ([PS22]
// Cor 3), or PoissonSelectionEpsilon. A Gaussian event has a whole curve of (epsilon, delta), and
// basic composition does not determine which point to take; so a Gaussian event is UNIMPLEMENTED
// with that reason. Every other event is UNIMPLEMENTED too.
absl::StatusOr<ApproximateDpParameters> ApproximateDpOf(const MechanismEvent& event,
                                                        const Setting& setting,
                                                        Accountant asked_by);

// Parameters with a count of uses.
struct CountedParameters {
  ApproximateDpParameters parameters;
  double count = 0;
};
absl::StatusOr<std::vector<CountedParameters>> ApproximateDpOf(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               Accountant asked_by);

// Returns log(e^log_delta - spent), rounded down: the rest of a target delta after `spent` has been
// set aside. -inf if nothing is left, NaN if `spent` exceeds the target delta.
double LogDeltaLeft(double log_delta, double spent);

// log(e^log_delta + more), rounded up, at most 0.
double LogDeltaPlus(double log_delta, double more);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_APPROXIMATE_DP_H_
