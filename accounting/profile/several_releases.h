#ifndef EPSLEDGER_ACCOUNTING_PROFILE_SEVERAL_RELEASES_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_SEVERAL_RELEASES_H_

#include <optional>
#include <vector>

#include "accounting/event/finite_pair.h"
#include "accounting/event/history.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Returns the profiles of several releases that are composed before a sampling is: releases of one
// sample, each of which may be chosen after the outputs before it ([ZDW22] Thm 10). Attained by a
// product of mechanisms. nullopt unless they are two Laplace releases (LaplacePairProfile), or all
// are discreteLaplace, pureDp, approximateDp, unverifiedClaim or, unless records are replaced,
// dominatingPair, of a composition with at most kMostComposedOutcomes likelihood ratios.
std::optional<DirectedProfiles> SeveralReleases(const std::vector<Use>& uses,
                                                const Setting& setting);

// Returns the profiles of a whole history of dominatingPair events, or of Poisson samples of them
// where one record is added or removed: closed forms, narrower and faster than a lattice whose
// atoms lie between its points. nullopt for any other history, if records are replaced by records,
// and where there are more than kMostComposedOutcomes likelihood ratios.
std::optional<DirectedProfiles> ComposedFinitePairs(const std::vector<Use>& uses,
                                                    const Setting& setting);

inline constexpr size_t kMostComposedOutcomes = 4096;

// Returns the product of two pairs: outcomes are pairs of outcomes, and those whose ratios agree to
// 1e-13 are one. nullopt where there are more than kMostComposedOutcomes, or where one has a ratio
// or a probability below 1e-290. O(n m log(n m)) of n and m outcomes, n m at most 1.1e6.
std::optional<FinitePair> ProductOf(const FinitePair& a, const FinitePair& b);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_SEVERAL_RELEASES_H_
