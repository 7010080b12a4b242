#ifndef EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMBINATIONS_H_
#define EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMBINATIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"

namespace epsledger::accounting {

// How the log moments of several Gaussian releases on ONE Poisson sample are put together. With
// alpha_i(l) = l D_{l+1} of release i and any xi_i > 0, sum xi_i = 1, each rule reads
//   alpha(l) = l * sum_i D^i(1 + l * factor_i),
// because xi_i alpha_i(l / xi_i) = l D^i(1 + l / xi_i).
enum class MomentsCombination {
  // factor_i = 1 / xi_i, xi chosen best: Hoelder's inequality. It bounds the SUM of the releases'
  // own losses. On a shared sample the joint loss is another number and can be larger (README,
  // "Moments on one sample"), so the joint moment, which is exact, is taken where it is larger: the
  // result is a proved upper bound.
  kHolder,
  // As kHolder with the rows of a release treated one by one: factor_ij = d_i / xi_i, the
  // generalised Hoelder inequality that "Minkowski" stands for. The same floor; proved.
  kGeneralizedHolder,
  // As printed: factor_ij = 1 / (d_i xi_i). For d_i > 1 this is smaller than the plain sum of
  // moments, which is itself below the truth. NOT a bound; no floor is applied.
  kAsPublished,
};

// The log moments of a history whose events are the releases of one step, each repeated over T
// steps. Immutable, safe to share between threads.
//
// The history: one poissonSampled event for each release of a step, all with the same sampling
// probability and the same count T. What is sampled is a Gaussian, or several (composed,
// selfComposed, counts): the d_i rows of release i, on the same sample too. Every step draws a new
// sample, independent of the others, so the T steps add up ([ACG+16] Thm 2.1).
// Events are releases by position: a history that merged two equal releases into one event of count
// 2T says something else (T' = 2T steps of one release).
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

  // alpha(order - 1) / (order - 1) of all T steps, rounded up: what EpsilonFromMoments and
  // LogDeltaFromMoments take. Under kHolder and kGeneralizedHolder it is >= the Renyi divergence of
  // the history in both directions, order in (1, inf). Cost: about 10 us for each release; 20 times
  // that for two that differ, whose xi is searched (more than two take xi_i ~ 1 / z_i).
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
    double joint_noise_multiplier;  // of all its rows as one release, rounded down
  };

  // D^i(1 + l / xi) as the combination treats the rows of a release.
  double OneRelease(const Release& release, double moment, double xi) const;
  // The smallest sum over xi1 + xi2 = 1 for two releases, looked for from xi1 = start.
  double BestPair(const Release& first, const Release& second, double moment, double start) const;

  MomentsCombination combination_ = MomentsCombination::kHolder;
  double sampling_probability_ = 0;
  double steps_ = 0;
  double joint_noise_multiplier_ = 0;  // of everything in one step, rounded down
  std::vector<Release> releases_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMBINATIONS_H_
