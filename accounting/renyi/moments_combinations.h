#ifndef EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMBINATIONS_H_
#define EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMBINATIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"

namespace epsledger::accounting {

// The rule that combines the log moments of several Gaussian releases on ONE Poisson sample. With
// alpha_i(l) = l D_{l+1} of release i and any xi_i > 0, sum xi_i = 1, each rule is
//   alpha(l) = l * sum_i D^i(1 + l * factor_i),
// because xi_i alpha_i(l / xi_i) = l D^i(1 + l / xi_i).
enum class MomentsCombination {
  // factor_i = 1 / xi_i, xi chosen best: Hoelder's inequality. It bounds the SUM of the releases'
  // own losses. On a shared sample the joint loss differs and can be larger (README, "Moments on
  // one sample"), so the joint moment, which is exact, replaces the combination where it is larger:
  // the result is a proved upper bound.
  kHolder,
  // As kHolder, but the rows of a release are treated one by one: factor_ij = d_i / xi_i, the
  // generalized Hoelder inequality (called "Minkowski" in [ZQ22]). The joint moment is the floor
  // here too; proved.
  kGeneralizedHolder,
  // As printed: factor_ij = 1 / (d_i xi_i). For d_i > 1 this is smaller than the plain sum of
  // moments, which is itself below the truth. NOT a bound; no floor is applied.
  kAsPublished,
};

// The log moments of a history whose events are the releases of one step, each repeated over T
// steps. Immutable, safe to share between threads.
//
// The history: one poissonSampled event for each release of a step, all with the same sampling
// probability and the same count T. The sampled event is a Gaussian, or several (composed,
// selfComposed, counts): the d_i rows of release i, also on the same sample. Every step draws a new
// sample, independent of the others, so the T steps add up ([ACG+16] Thm 2.1).
// Events are releases by position: a history that merges two equal releases into one event of count
// 2T has another meaning (T' = 2T steps of one release).
class CombinedMoments {
 public:
  // UNIMPLEMENTED with the reason for counts that differ, sampling probabilities that differ, an
  // event that is not a poissonSampled Gaussian, and replace-one. The result does not borrow from
  // `uses`.
  static absl::StatusOr<CombinedMoments> Create(const std::vector<Use>& uses,
                                                const Setting& setting,
                                                MomentsCombination combination,
                                                Accountant asked_by);
  // kHolder for MOMENTS_HOLDER, kAsPublished for MOMENTS_AS_PUBLISHED.
  static absl::StatusOr<CombinedMoments> Create(const std::vector<Use>& uses,
                                                const Setting& setting, Accountant accountant);

  // Returns alpha(order - 1) / (order - 1) of all T steps, rounded up: the argument of
  // EpsilonFromMoments and LogDeltaFromMoments. Under kHolder and kGeneralizedHolder it is >= the
  // Renyi divergence of the history in both directions, order in (1, inf). Cost: about 10 us for
  // each release; 20 times that for two releases that differ, whose xi is searched (more than two
  // use xi_i ~ 1 / z_i).
  double Divergence(double order) const;

  // False for kAsPublished: its numbers are approximations and may be below the truth.
  bool proved() const { return combination_ != MomentsCombination::kAsPublished; }

 private:
  // `count` rows of one noise multiplier.
  struct Rows {
    double noise_multiplier;
    double count;
  };
  struct Release {
    std::vector<Rows> rows;
    double row_count;               // d_i
    double joint_noise_multiplier;  // of all rows as one release, rounded down
  };

  // Returns D^i(1 + l / xi) as the combination treats the rows of a release.
  double OneRelease(const Release& release, double moment, double xi) const;
  // Returns the smallest sum over xi1 + xi2 = 1 for two releases, searched from xi1 = start.
  double BestPair(const Release& first, const Release& second, double moment, double start) const;

  MomentsCombination combination_ = MomentsCombination::kHolder;
  double sampling_probability_ = 0;
  double steps_ = 0;
  double joint_noise_multiplier_ = 0;  // of everything in one step, rounded down
  std::vector<Release> releases_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMBINATIONS_H_
