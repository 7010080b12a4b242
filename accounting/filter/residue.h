#ifndef EPSLEDGER_ACCOUNTING_FILTER_RESIDUE_H_
#define EPSLEDGER_ACCOUNTING_FILTER_RESIDUE_H_

// The residue filter keeps an adaptive stream of charges to (epsilon, delta) in units of one
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

// Defines what a residue filter promises and counts. Fixed before the first charge.
//
// With R_k the profile of k independent uses of `pair`, in either order:
//   R_units(e^epsilon) + slack + reserve <= delta.
// A stream whose prices stay within `units` and within `reserve` is (epsilon, delta)-DP, regardless
// of how its events were chosen; its profile is at most R_units + slack + reserve everywhere.
struct Reference {
  LossPair pair;
  int64_t units = 0;   // N
  double slack = 0;    // N d0: a charge of c units may exceed the chain by c slack / units
  double reserve = 0;  // the total that events with a delta of their own may take
};

inline constexpr double kLargestEpsilonOfUnits = 100;

// Returns the reference of `event` for a cap of (epsilon, delta): the finest lattice that is worth
// its points, and the most units that are proved to fit.
//
// INVALID_ARGUMENT for an event that releases records or costs nothing; UNIMPLEMENTED with the
// reason where no dominating pair is proved; FAILED_PRECONDITION if not one unit fits, and for an
// epsilon above kLargestEpsilonOfUnits, where a promise is not worth the work; RESOURCE_EXHAUSTED
// beyond the bound of work; CANCELLED soon after `abandoned` returns true. Messages do not name a
// field.
// REQUIRES: event valid; epsilon in (0, inf), delta in (0, 1). Cost: .1 to 3 s.
absl::StatusOr<Reference> MakeReference(const MechanismEvent& event, NeighboringRelation relation,
                                        double epsilon, double delta,
                                        absl::FunctionRef<bool()> abandoned = NeverAbandoned);

// Returns the same pair with the same slack per unit for another cap: a successor needs this so
// that units carry over one to one. Errors as above.
absl::StatusOr<Reference> WithCap(const Reference& reference, double epsilon, double delta,
                                  absl::FunctionRef<bool()> abandoned = NeverAbandoned);

// Returns a reference whose guarantee is a curve and not one point: at every epsilon the delta of
// `units` uses of the pair, plus slack + reserve <= delta / 40. The lattice is chosen to be fine at
// this delta. Errors as MakeReference; FAILED_PRECONDITION also if the epsilon of `units` units is
// not below kLargestEpsilonOfUnits. REQUIRES: event valid; 1 <= units <= 2^40, delta in (0, 1).
absl::StatusOr<Reference> MakeReferenceOfUnits(const MechanismEvent& event,
                                               NeighboringRelation relation, int64_t units,
                                               double delta, absl::FunctionRef<bool()> abandoned);

// Returns the same pair with the same slack per unit for `units` units. FAILED_PRECONDITION unless
// slack + reserve <= delta / 2.
absl::StatusOr<Reference> WithUnits(const Reference& reference, int64_t units, double delta);

// Returns an epsilon with R_units(e^epsilon) + slack + reserve <= delta, close to the least one;
// FitsCap proves it. +inf if no such epsilon up to kLargestEpsilonOfUnits is found. Cost: .02 to 1
// s, some 5 s for +inf.
double EpsilonOfUnits(const Reference& reference, double delta);
// Returns the number of points of the transforms of EpsilonOfUnits, 2^12 to 2^18. The cost of
// EpsilonOfUnits is proportional to it.
size_t TransformOfUnits(const Reference& reference, double delta);

// True if the inequality above Reference is proved: MakeReference and WithCap promise it, and a
// stored reference is checked with it. False if `reference.pair` is no valid pair. FitsCap does not
// check that the pair is above its event; ResiduePricer does, for one use of the event at level 1
// for one unit. Cost: as MakeReference.
bool FitsCap(const Reference& reference, double epsilon, double delta);

// True if the reference's pair is the one that MakeReference makes of the event for a cap of this
// delta. The pair is then above the event in both orders, which is proved where the pair is made.
bool IsPairOf(const Reference& reference, const MechanismEvent& event, NeighboringRelation relation,
              double delta);

// The cost of `count` uses of an event that are paid together before the first of them runs.
struct UnitPrice {
  int64_t units = 0;   // in [1, level]
  double reserve = 0;  // >= 0, from Reference::reserve
};

// An event on the lattice of one reference: pairs that dominate its parts.
struct PreparedEvent;
// Returns how many masses it holds, of eight bytes each: up to 2^24.
size_t MassesOf(const PreparedEvent& event);

// Prices under one reference. Immutable, safe to share between threads.
class ResiduePricer {
 public:
  explicit ResiduePricer(Reference reference);
  ~ResiduePricer();
  ResiduePricer(ResiduePricer&&) noexcept;
  ResiduePricer& operator=(ResiduePricer&&) noexcept;

  // Computes everything about an event that does not depend on how many units are left.
  //
  // UNIMPLEMENTED where no dominating pair is proved; RESOURCE_EXHAUSTED beyond the bound of work;
  // CANCELLED once `abandoned` returns true, within the time of one part. REQUIRES: event valid.
  // Cost: milliseconds, up to a second, for each different event that `event` is composed of, 64 at
  // most.
  absl::StatusOr<std::shared_ptr<const PreparedEvent>> Prepare(
      const MechanismEvent& event, NeighboringRelation relation,
      absl::FunctionRef<bool()> abandoned = NeverAbandoned) const;

  // Returns the smallest price found with
  //   (A x B^(level - c))(g) <= R_level(g) + c d0 + reserve   for every g >= 1 and in both orders,
  // where A is `count` independent uses of a pair that dominates the event: the condition of the
  // theorem for a charge while `level` units are left or more. A price holds at its level and
  // above, never below.
  //
  // FAILED_PRECONDITION if not even all `level` units pay for it; CANCELLED soon after `abandoned`
  // returns true. REQUIRES: prepared by this pricer, count >= 1, level in [1, units]. Cost: about
  // 50 ms.
  absl::StatusOr<UnitPrice> PriceOf(const PreparedEvent& event, int64_t count, int64_t level,
                                    absl::FunctionRef<bool()> abandoned = NeverAbandoned) const;

  // True if the condition above is proved for this price: it is for prices from PriceOf, and a
  // stored price is checked with it.
  bool IsProved(const PreparedEvent& event, int64_t count, int64_t level,
                const UnitPrice& price) const;

 private:
  class Chain;
  struct PowersOfEvent;

  std::unique_ptr<const Chain> chain_;
};

// True if one use of `event` costs one unit of `reference` without any computation: `event` is the
// reference, or a Poisson-sampled Gaussian with at most its sampling probability and at least its
// noise (post-processing and [MTZ19] Thm 4: a smaller sample is a sample of the sample). Not under
// replace-one.
bool CostsOneUnit(const MechanismEvent& event, const MechanismEvent& reference,
                  NeighboringRelation relation);

// Prices are computed at levels: `units`, then each 1/40 less than the one before, down to 1.
// Returns the largest level that is at most `left`. REQUIRES: 1 <= left <= units.
int64_t LevelAtMost(int64_t units, int64_t left);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_FILTER_RESIDUE_H_
