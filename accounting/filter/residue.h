#ifndef EPSLEDGER_ACCOUNTING_FILTER_RESIDUE_H_
#define EPSLEDGER_ACCOUNTING_FILTER_RESIDUE_H_

// The residue filter: an adaptive stream of charges is kept to (epsilon, delta) in units of one
// reference event, as tightly as privacy loss distributions prove it for the reference itself.
// README.md of this folder has the theorem and its proof.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/numeric/abandoned.h"

namespace epsledger::accounting {

// What a residue filter promises and counts. Fixed before the first charge.
//
// With R_k the profile of k independent uses of `pair`, in either order:
//   R_units(e^epsilon) + slack + reserve <= delta.
// A stream that stays within `units`, and within `reserve` for what its prices take of it, is
// (epsilon, delta)-DP, whatever chose its events; its profile is at most R_units + slack + reserve
// everywhere.
struct Reference {
  LossPair pair;
  int64_t units = 0;   // N
  double slack = 0;    // N d0: a charge of c units may exceed the chain by c slack / units
  double reserve = 0;  // what events with a delta of their own may take in all
};

inline constexpr double kLargestEpsilonOfUnits = 100;

// Returns the reference of `event` for a cap of (epsilon, delta): the finest lattice that is worth
// its points, and the most units that are proved to fit.
//
// FAILED_PRECONDITION also for an epsilon above kLargestEpsilonOfUnits, where nothing is promised
// that would be worth the work. INVALID_ARGUMENT for an event that releases records or costs
// nothing; UNIMPLEMENTED with the reason where no dominating pair is proved; FAILED_PRECONDITION if
// not one unit fits; RESOURCE_EXHAUSTED beyond the bound of work; CANCELLED soon after `abandoned`
// says that nobody wants it any more. Messages do not name a field.
// REQUIRES: event valid; epsilon in (0, inf), delta in (0, 1). Cost: .1 to 3 s.
absl::StatusOr<Reference> MakeReference(const MechanismEvent& event, NeighboringRelation relation,
                                        double epsilon, double delta,
                                        absl::FunctionRef<bool()> abandoned = NeverAbandoned);

// The same pair and the same share of slack a unit, for another cap: what a successor needs, so
// that units carry over one to one. Errors as above.
absl::StatusOr<Reference> WithCap(const Reference& reference, double epsilon, double delta,
                                  absl::FunctionRef<bool()> abandoned = NeverAbandoned);

// A reference whose guarantee is a curve and not one point: at every epsilon the delta of `units`
// uses of the pair, and slack + reserve <= delta / 40 more. The lattice is the one that is fine at
// this delta. Errors as MakeReference, FAILED_PRECONDITION also where so many units are not below
// kLargestEpsilonOfUnits. REQUIRES: event valid; 1 <= units <= 2^40, delta in (0, 1).
absl::StatusOr<Reference> MakeReferenceOfUnits(const MechanismEvent& event,
                                               NeighboringRelation relation, int64_t units,
                                               double delta, absl::FunctionRef<bool()> abandoned);

// The same pair and the same share of slack a unit, for so many units. FAILED_PRECONDITION unless
// slack + reserve <= delta / 2.
absl::StatusOr<Reference> WithUnits(const Reference& reference, int64_t units, double delta);

// An epsilon with R_units(e^epsilon) + slack + reserve <= delta, close to the least: FitsCap proves
// it. +inf where none up to kLargestEpsilonOfUnits is found. Cost: .02 to 1 s, some 5 s for +inf.
double EpsilonOfUnits(const Reference& reference, double delta);
// The points of its transforms, which its cost is in proportion to: 2^12 to 2^18.
size_t TransformOfUnits(const Reference& reference, double delta);

// True if the inequality above Reference is proved: what MakeReference and WithCap promise, and
// what a stored reference is checked with. False for a pair that is none. That the pair is above
// its event is ResiduePricer's to say: one use of the event at level 1 for one unit. Cost: as
// MakeReference.
bool FitsCap(const Reference& reference, double epsilon, double delta);

// True if the reference's pair is the one that MakeReference makes of the event for a cap of this
// delta: it is then above the event in both orders, which is proved where the pair is made.
bool IsPairOf(const Reference& reference, const MechanismEvent& event, NeighboringRelation relation,
              double delta);

// What `count` uses of an event, paid together before the first of them runs, cost.
struct UnitPrice {
  int64_t units = 0;   // in [1, level]
  double reserve = 0;  // >= 0, of Reference::reserve
};

// An event on the lattice of one reference: pairs that dominate its parts.
struct PreparedEvent;
// The masses that it holds, of eight bytes each: up to 2^24.
size_t MassesOf(const PreparedEvent& event);

// Prices under one reference. Immutable: every thread may ask.
class ResiduePricer {
 public:
  explicit ResiduePricer(Reference reference);
  ~ResiduePricer();
  ResiduePricer(ResiduePricer&&) noexcept;
  ResiduePricer& operator=(ResiduePricer&&) noexcept;

  // Everything about an event that does not depend on how many are left.
  //
  // UNIMPLEMENTED where no dominating pair is proved; RESOURCE_EXHAUSTED beyond the bound of work;
  // CANCELLED once `abandoned` says that nobody wants it any more, within the time of one part.
  // REQUIRES: event valid. Cost: milliseconds, up to a second, for each different event that it is
  // composed of, 64 at most.
  absl::StatusOr<std::shared_ptr<const PreparedEvent>> Prepare(
      const MechanismEvent& event, NeighboringRelation relation,
      absl::FunctionRef<bool()> abandoned = NeverAbandoned) const;

  // The smallest price found with
  //   (A x B^(level - c))(g) <= R_level(g) + c d0 + reserve   for every g >= 1 and in both orders,
  // A being `count` independent uses of a pair that dominates the event: the condition of the
  // theorem for a charge while `level` units are left or more. A price holds at its level and
  // above, never below.
  //
  // FAILED_PRECONDITION if not even all `level` units pay for it; CANCELLED soon after `abandoned`
  // says that nobody wants it any more. REQUIRES: prepared by this pricer, count >= 1, level in
  // [1, units]. Cost: about 50 ms.
  absl::StatusOr<UnitPrice> PriceOf(const PreparedEvent& event, int64_t count, int64_t level,
                                    absl::FunctionRef<bool()> abandoned = NeverAbandoned) const;

  // True if the condition above is proved for this price: what PriceOf returns, and what a stored
  // price is checked with.
  bool IsProved(const PreparedEvent& event, int64_t count, int64_t level,
                const UnitPrice& price) const;

 private:
  class Chain;
  struct PowersOfEvent;

  std::unique_ptr<const Chain> chain_;
};

// True if one use of `event` costs one unit of `reference` without any computation: it is the
// reference, or a Poisson-sampled Gaussian with at most its sampling probability and at least its
// noise (post-processing and [MTZ19] Thm 4: a smaller sample is a sample of the sample). Not under
// replace-one.
bool CostsOneUnit(const MechanismEvent& event, const MechanismEvent& reference,
                  NeighboringRelation relation);

// The levels at which prices are computed: units, then each 1/40 less than the one before, down
// to 1. Returns the largest that is at most `left`. REQUIRES: 1 <= left <= units.
int64_t LevelAtMost(int64_t units, int64_t left);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_FILTER_RESIDUE_H_
