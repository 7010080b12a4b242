#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_MU_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_MU_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/gaussian/profile.h"

namespace epsledger::accounting {

// Returns bounds on the mu of one event that is a Gaussian release with known mean shift, or is
// mu-GDP by declaration: gaussian, gaussianDp, treeAggregation, matrixMechanism. nullopt for every
// other event.
std::optional<Bounds> GaussianMu(const MechanismEvent& event, const Setting& setting);

// Returns bounds on the square of what ComposeGaussianMu returns for one plain Gaussian release.
// nullopt for every other event, gaussianDp included.
std::optional<Bounds> GaussianMuSquared(const Gaussian& event, double shift);

// Bounds on sqrt(sum count_i mu_i^2): G_mu1 (x) ... (x) G_mun is exactly G of that ([DRS19]
// Cor 3.3). Intermediate results neither overflow nor underflow where the result does not.
// UNIMPLEMENTED if an event has no mu.
absl::StatusOr<Bounds> ComposeGaussianMu(const std::vector<Use>& uses, const Setting& setting);

// Returns how many nodes of a binary tree over step_count leaves contain one leaf:
// ceil(log2(step_count + 1)).
int TreeHeight(int64_t step_count);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_MU_H_
