#ifndef EPSLEDGER_ACCOUNTING_PROFILE_BATCH_PROFILES_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_BATCH_PROFILES_H_

// The profiles of one use of an event on batches other than Poisson samples
// (accounting/profile/README.md, "Batches of a fixed size" and "Random allocation", with the
// proofs).

#include <cstdint>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Each returns profiles that no pair of neighbors exceeds, at any epsilon. Under add-or-remove-one
// dataset_size is the number of records with the privacy unit or without it, and the bound holds
// for both. Exact only as said below. UNIMPLEMENTED with the reason where the mathematics is not
// proved here; the message names `asked_by`. REQUIRES: `event` is valid and holds the second
// argument; group_size >= 1.

// sampledWithoutReplacement, every relation. [BBG18] Thm 9 under replace-one. Exact for Gaussian
// releases under add-or-remove-one, with dataset_size records of which one is removed. Where a data
// set has fewer records than sample_size, all of them are taken.
absl::StatusOr<DirectedProfiles> SampledWithoutReplacementProfiles(
    const MechanismEvent& event, const SampledWithoutReplacement& sampled, const Setting& setting,
    int64_t group_size, Accountant asked_by);

// sampledWithReplacement, every relation. [BBG18] Thm 10 under replace-one. Exact as above where no
// number of draws is negligible.
absl::StatusOr<DirectedProfiles> SampledWithReplacementProfiles(
    const MechanismEvent& event, const SampledWithReplacement& sampled, const Setting& setting,
    int64_t group_size, Accountant asked_by);

// truncatedPoissonSampled, every relation: poissonSampled where the batch has room for one more
// record, and a replaced record where it is full. A batch above max_batch_size keeps
// max_batch_size of its records, chosen uniformly at random.
absl::StatusOr<DirectedProfiles> TruncatedPoissonSampledProfiles(
    const MechanismEvent& event, const TruncatedPoissonSampled& sampled, const Setting& setting,
    int64_t group_size, Accountant asked_by);

// randomAllocation of one round in `rounds`, where one record is added or removed, or becomes
// nothing in releases with added noise. More than one selected round: OpenRandomAllocations
// (history.h).
absl::StatusOr<DirectedProfiles> RandomAllocationProfilesOf(const MechanismEvent& event,
                                                            const RandomAllocation& allocation,
                                                            const Setting& setting,
                                                            int64_t group_size,
                                                            Accountant asked_by);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_BATCH_PROFILES_H_
