#ifndef EPSLEDGER_ACCOUNTING_PROFILE_LAPLACE_PAIR_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_LAPLACE_PAIR_PROFILE_H_

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The composition of two Laplace releases at distances theta and other of their scales, in closed
// form (accounting/profile/README.md, "Two Laplace releases"): what a sample that is released twice
// needs. It is its own reverse. Relative error of delta: some 50 ulp (1 + theta + other), plus the
// effect of distances rounded to a share of 2^-48 of the larger one.
class LaplacePairProfile final : public PrivacyProfile {
 public:
  static constexpr double kLargestSum = 600;
  // True if theta.upper + other.upper <= kLargestSum, the larger one at least 1e-200.
  static bool CanTake(Bounds theta, Bounds other);

  // REQUIRES: CanTake(theta, other); 0 <= lower <= upper of both.
  LaplacePairProfile(Bounds theta, Bounds other);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double SmallestLoss() const override { return -above_.sum; }
  double LargestLoss() const override { return above_.sum; }
  double AtomSpacing() const override { return atom_spacing_; }
  double Cost() const override { return 4; }

 private:
  // Two distances whose sum and difference are doubles.
  struct Distances {
    double smaller;
    double sum;
    double difference;  // >= 0
  };
  static Distances DistancesOf(double theta, double other);
  // delta of these distances. 0 <= epsilon < sum.
  static double DeltaOf(const Distances& distances, double epsilon);
  // P[L > epsilon], Q[L > epsilon], or closed. epsilon >= 0.
  static double TailOf(const Distances& distances, double epsilon, bool under_p, bool closed);
  double TailAt(double epsilon, bool closed, double factor) const;

  Distances below_;  // at most the two distances
  Distances above_;  // at least
  double shift_;     // by how much a loss of below_ moves to that of above_, at most
  double relative_error_;
  double atom_spacing_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_LAPLACE_PAIR_PROFILE_H_
