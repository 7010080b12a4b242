#ifndef EPSLEDGER_ACCOUNTING_ACCOUNTANTS_COMPOSERS_H_
#define EPSLEDGER_ACCOUNTING_ACCOUNTANTS_COMPOSERS_H_

// One factory for each accountant; Compose chooses among them. Each returns UNIMPLEMENTED with the
// reason if it does not know one of the events or the group size.

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/accountants/composition.h"

namespace epsledger::accounting {

// The BASIC and ADVANCED accountants (classical/basic_and_advanced.h). Upper bounds. BASIC takes
// the group pair of the whole history ([Vadhan17] Lemma 2.2); ADVANCED does not support groups.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByBasic(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options);
absl::StatusOr<std::unique_ptr<Composition>> ComposeByAdvanced(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options);

// The OPTIMAL accountant: the best promise if only (epsilon_i, delta_i) is known of each event. One
// distinct epsilon_i in closed form ([KOV15] Thm 3.3), few outcomes by enumeration ([MV16] Thm
// 1.5), otherwise bounds from a lattice on the same randomized responses.
//
// `lower` is set where the events promise an (epsilon, delta) and nothing else (pureDp,
// approximateDp, unverifiedClaim), so that some mechanism attains it. `lower` is not set for
// groups: each event is taken at its own group pair ([Vadhan17] Lemma 2.2).
absl::StatusOr<std::unique_ptr<Composition>> ComposeByOptimal(const std::vector<Use>& uses,
                                                              const Setting& setting,
                                                              const CompositionOptions& options);

// The RENYI and MOMENTS accountants: one curve of divergences, converted by [CKS20] Prop 12 at the
// best real order or by [ACG+16] Thm 2 at integer moments up to 32. Upper bounds.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByRenyi(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options,
                                                            Accountant accountant);

// MOMENTS_HOLDER and MOMENTS_AS_PUBLISHED: several releases on one sample by the two rules of
// [ZQ22] (renyi/moments_combinations.h), converted by [ACG+16] Thm 2. The first is an upper bound;
// the second is an APPROXIMATION that can be below the truth. No groups. Events are releases by
// position: equal events must not be merged.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByMoments(const std::vector<Use>& uses,
                                                              const Setting& setting,
                                                              const CompositionOptions& options,
                                                              Accountant accountant);

// The ZCDP accountant: rho, xi and delta add up ([BS16] Lemma 1.7) and are converted by [CKS20]
// Prop 12 at the best real order. Upper bounds; groups as in ZcdpOf.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByZcdp(const std::vector<Use>& uses,
                                                           const Setting& setting,
                                                           const CompositionOptions& options);

// The GAUSSIAN accountant: Gaussian releases are one Gaussian release of mu = sqrt(sum mu_i^2)
// ([DRS19] Cor 3.3), k times that for groups of k ([DRS19] Thm 2.14). Two-sided, and every question
// has a closed form.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByGaussian(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options);

// The CLT accountant: treats the history as the Gaussian that it tends to (central_limit/limit.h).
// Every answer is an APPROXIMATION, one number in `upper`, and under-reports at small delta. No
// groups.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByCentralLimit(
    const std::vector<Use>& uses, const Setting& setting, const CompositionOptions& options);

// The PLD accountant: every event by its privacy profile, composed without loss. Two-sided where
// every profile is attained (PrivacyProfile::exact), otherwise an upper bound alone.
//
// Plain Gaussian events are merged into one first ([DRS19] Cor 3.3). A two-sided answer for epsilon
// is compared with the upper bound of the Renyi accountant, unless an event has a delta of its own:
// if the lower bound is above it, one of the two is wrong and the answer is INTERNAL. The first
// question for a type II error tabulates the whole trade-off function, which answers all later
// ones. All answers come from one growing lattice: not safe to share between threads.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByPld(const std::vector<Use>& uses,
                                                          const Setting& setting,
                                                          const CompositionOptions& options,
                                                          Accountant asked_by);

// The TRADE_OFF accountant: Gaussian events, (epsilon, delta)-DP promises, Laplace and declared
// trade-off curves as trade-off functions, composed exactly where TensorProduct can ([DRS19] Thm
// 3.2). Every other history is composed through its privacy loss (ComposeByPld), whose profile is
// equivalent by duality ([DRS19] Prop 2.12).
//
// Two-sided where every function is attained. The result may borrow `uses`.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByTradeOff(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ACCOUNTANTS_COMPOSERS_H_
