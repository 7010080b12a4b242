#ifndef EPSLEDGER_ACCOUNTING_PLD_LOSS_MEASURE_H_
#define EPSLEDGER_ACCOUNTING_PLD_LOSS_MEASURE_H_

#include <cstdint>
#include <vector>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// A positive measure of privacy losses on the lattice {j h}; the owner keeps h:
// masses[i] at the loss (first + i) h, and infinity_mass at +inf. The total need not be 1.
//
// Its profile is f(x) = sum masses[i] (1 - x e^{-loss})_+ + infinity_mass, x = e^epsilon. If two
// measures have f_A >= f_B everywhere, then so do their convolutions with any third one (README,
// "Why measures on a lattice bound a composition").
struct LossMeasure {
  int64_t first = 0;
  std::vector<double> masses;
  double infinity_mass = 0;
};

// The lattice of a measure: the losses from first * interval to last * interval.
struct Lattice {
  double interval = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// A measure above and a measure below a profile.
struct MeasurePair {
  LossMeasure above;  // profile >= that of `profile` at every epsilon
  LossMeasure below;  // profile <= that of `profile` at every epsilon
};

// Discretizes a profile. `above` is connect-the-dots ([DGKKM22] Alg 1): the chords of the profile
// between lattice points. `below` interpolates points that are lowered by more than any chord can
// overshoot. Both are off by O(interval^2) where the profile is smooth; all rounding is outward.
// Mass above the last point becomes infinity mass of `above` and is dropped from `below`; mass
// below the first point moves to it or is dropped.
// REQUIRES: interval > 0 with at most 29 significant bits, |first|, |last| < 2^24, last > first.
// Cost: one LogDelta and one TailUnderQ per point.
MeasurePair Discretize(const PrivacyProfile& profile, const Lattice& lattice);

// Returns m >= log of the sum of masses[i] e^{order loss}, finite losses only; -inf for no mass.
// Within a few ulp of the exponents. order > 0. Cost: one exponential per point.
double LogMoment(const LossMeasure& measure, double interval, double order);

// A piece of a measure at its mean loss. PiecesOf returns at most two thousand pieces.
struct LossPiece {
  double log_mass = 0;
  double loss = 0;
};
std::vector<LossPiece> PiecesOf(const LossMeasure& measure, double interval);
// Returns LogMoment of the measure approximately: no bound.
double RoughLogMoment(const std::vector<LossPiece>& pieces, double order);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_LOSS_MEASURE_H_
