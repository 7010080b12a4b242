#ifndef EPSLEDGER_ACCOUNTING_PLD_CONTOUR_COMPOSITION_H_
#define EPSLEDGER_ACCOUNTING_PLD_CONTOUR_COMPOSITION_H_

#include <memory>
#include <vector>

#include "accounting/numeric/bounds.h"
#include "accounting/pld/contour_line.h"
#include "accounting/pld/precision.h"

namespace epsledger::accounting {

// The composition, in one direction, of Poisson-sampled Gaussians and one plain Gaussian of
// parameter mu, without any lattice on the losses: the profile is an integral along a vertical line
// of the complex plane of the moment M(z)^count, summed by the trapezoid rule, whose only errors
// are aliases, all positive and bounded by Chernoff, a far end bounded by FrequencyDecay, and
// rounding (accounting/pld/README.md, "The contour").
//
// Cost grows with the wanted digits and hardly with the counts. With few uses of a small sampling
// probability the far end is far away and the contour may not pay; the answer is then {0, +inf}, or
// {-inf, 0} for a delta. Not safe to share between threads.
class ContourComposition {
 public:
  // REQUIRES: 0 <= mu.lower <= mu.upper < inf; at least one pair; all of one adjacency.
  ContourComposition(std::vector<CountedPair> pairs, Bounds mu);

  // Adds `more` further uses of pair `index`. Keeps earlier results.
  void Add(size_t index, double more);

  // Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta. log_delta in (-inf, 0).
  // Cost: up to 30 ms.
  Bounds Epsilon(double log_delta, const Precision& precision);
  // Bounds on log delta(epsilon), epsilon finite. Cost: up to 30 ms.
  Bounds LogDelta(double epsilon, const Precision& precision);
  // The same with the far outcomes set aside, which brings the far end closer. Never wider than
  // `known`, which are bounds on the same value. Cost: up to half a second.
  Bounds EpsilonWithCut(double log_delta, const Precision& precision, Bounds known);
  Bounds LogDeltaWithCut(double epsilon, const Precision& precision, Bounds known);

  // The order of the moment that gave the best bound for the last answer.
  double saddle() const { return saddle_; }

 private:
  // Merges similar pairs into one representative each, for RoughMoment.
  void Represent();
  void AdjustRepresentatives();
  double RoughMoment(double order) const;
  double SaddlePointLogDelta(double epsilon) const;
  // True if it built a line on which delta near (epsilon, log_delta) is known to `relative`.
  bool BuildLine(double epsilon, double log_delta, double relative);
  void Recompose();
  // Sets the far outcomes of each pair aside, of total mass e^log_mass, or nothing for -inf.
  void Cut(double log_mass);
  // Returns bounds on log delta from the current line.
  Bounds Read(double epsilon) const;
  Bounds ReadEpsilon(double log_delta, double near) const;
  Bounds EpsilonAsCut(double log_delta, const Precision& precision);
  Bounds LogDeltaAsCut(double epsilon, const Precision& precision);

  std::vector<CountedPair> pairs_;
  std::vector<CountedPair> representatives_;
  Bounds mu_;
  double saddle_ = 2;
  double last_epsilon_ = 0;
  double work_limit_ = 0;  // nodes times quadrature points that a line may take
  std::unique_ptr<ContourLine> line_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_CONTOUR_COMPOSITION_H_
