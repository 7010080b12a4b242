#ifndef EPSLEDGER_ACCOUNTING_PROFILE_PRIVACY_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_PRIVACY_PROFILE_H_

#include <limits>
#include <memory>

#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// A profile at one epsilon.
struct ProfilePoint {
  Bounds delta;  // delta itself, not its logarithm. In [0, 1]
  Bounds tail;   // as TailUnderQ
};

// The privacy profile of one ordered pair of output laws (P, Q),
//
//   delta(epsilon) = E_P[(1 - e^{epsilon - L})_+ ; L < inf] + P[L = inf],   L = log dP/dQ under P,
//
// for every finite epsilon of either sign. As a function of x = e^epsilon it is convex and
// non-increasing, with delta >= max(0, 1 - x).
//
// A profile either belongs to a pair that the mechanism attains (exact()), or is only known to lie
// above the profile of every pair in question. Bounds returned here are bounds on *this* function:
// a profile that is not exact() supports only upper bounds on epsilon and delta.
//
// Immutable, safe to share between threads. Nothing is NaN.
class PrivacyProfile {
 public:
  virtual ~PrivacyProfile() = default;

  // Bounds on log delta(epsilon); -inf where delta is 0. lower <= upper <= 0. Their distance is the
  // rounding of the evaluation: a few ulp of delta where possible.
  virtual Bounds LogDelta(double epsilon) const = 0;

  // lower <= Q[L > epsilon] and Q[L >= epsilon] <= upper: together the subgradients of
  // -delta in x at x = e^epsilon. In [0, 1].
  virtual Bounds TailUnderQ(double epsilon) const = 0;

  // Both in one call, for callers that need many points (PoissonSampledProfile, the lattice of
  // losses): bounds on delta and the tail at every real epsilon in [epsilon - error, epsilon +
  // error]. delta is in linear scale, so that it and its lower bound may underflow; its upper bound
  // is 0 only where delta is 0. REQUIRES: 0 <= error <= inf, epsilon finite or infinite; NaN
  // answers [0, 1] twice.
  // The default implementation calls LogDelta and TailUnderQ at both ends; profiles that can share
  // work between these four calls override it.
  virtual ProfilePoint Around(double epsilon, double error) const;

  // The same at the point epsilon only.
  ProfilePoint At(double epsilon) const { return Around(epsilon, 0); }

  // An upper bound on P[L = inf].
  virtual double InfinityMass() const { return 0; }

  // L >= SmallestLoss() and (L <= LargestLoss() or L = inf) almost surely under P.
  virtual double SmallestLoss() const { return -std::numeric_limits<double>::infinity(); }
  virtual double LargestLoss() const { return std::numeric_limits<double>::infinity(); }

  // Where L has atoms (points of positive mass), they lie on multiples of the returned value; 0 if
  // L has no atoms or they lie on no such lattice. Only a hint for placing grids.
  virtual double AtomSpacing() const { return 0; }

  // The cost of one evaluation, in evaluations of a Gaussian profile. Only a hint for bounding
  // work.
  virtual double Cost() const { return 1; }

  // True if the mechanism attains this profile, so that lower bounds on it are lower bounds on the
  // privacy loss spent.
  virtual bool exact() const { return true; }
};

// The profiles of one event, one per direction. "remove" belongs to the pair (with the privacy
// unit, without it), "add" to the reverse; a symmetric relation has the same profile twice.
struct DirectedProfiles {
  std::shared_ptr<const PrivacyProfile> remove;
  std::shared_ptr<const PrivacyProfile> add;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_PRIVACY_PROFILE_H_
