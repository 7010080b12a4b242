#ifndef EPSLEDGER_ACCOUNTING_PLD_TILTED_LOSS_H_
#define EPSLEDGER_ACCOUNTING_PLD_TILTED_LOSS_H_

#include <complex>
#include <limits>
#include <vector>

#include "accounting/event/neighboring_relation.h"

namespace epsledger::accounting {

// The Poisson-sampled Gaussian pair: (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2) for "remove",
// the reverse for "add". With t standard normal, w = t/s - 1/(2 s^2) and g = 1 - q + q e^w, its
// moment is M(z) = E[e^{zL}] = E[g^{z+1}] for remove and E[g^{-z}] for add.
struct SampledGaussianPair {
  double sampling_probability = 0;  // q in (0, 1)
  double noise = 0;                 // s > 0: the noise multiplier over the shift
  Adjacency adjacency = Adjacency::kRemove;
  // Outcomes t beyond about this point are set aside: each counts with the share Phi((cut - t) /
  // width), which is entire in t, so that everything below stays analytic. The mass set aside is
  // CutMass. Remove only; +inf sets nothing aside.
  double cut = std::numeric_limits<double>::infinity();
};
inline constexpr double kCutWidth = 0.15;

// Returns m >= P[what the cut sets aside], rounded up; 0 without a cut.
double CutMass(const SampledGaussianPair& pair);

// Returns log M(order) for a real order > 0, to about 1e-6: a guide for searches, not a bound. 1
// us.
double RoughLogMoment(const SampledGaussianPair& pair, double order);

// The law of L under the measure tilted by e^{tilt L}, by the trapezoid rule in t, with every error
// bounded (accounting/pld/README.md, "The contour"): aliasing of the rule by the integral on a
// shifted line, the part outside the points by a Gaussian tail, rounding point by point.
class TiltedLoss {
 public:
  // Valid for frequencies |y| <= largest_frequency. `tolerance` is the allowed error of aliasing
  // and truncation, relative to M(tilt). valid() is false if `max_points` points cannot reach it.
  TiltedLoss(const SampledGaussianPair& pair, double tilt, double largest_frequency,
             double tolerance, int max_points);

  bool valid() const { return valid_; }
  size_t size() const { return losses_.size(); }

  // |log M(tilt) - log_moment()| <= log_moment_error().
  double log_moment() const { return log_moment_; }
  double log_moment_error() const { return log_moment_error_; }

  // Returns phi(k step) - 1, phi(y) = M(tilt + iy) / M(tilt), for k = 0, ..., count - 1. Each is
  // within Error(y) of the truth; Error(y) is small compared with 1 where y L is. REQUIRES: (count
  // - 1) * step <= largest_frequency. O(count * size()).
  std::vector<std::complex<double>> CharacteristicFunctionMinusOne(double step, int count) const;
  double Error(double frequency) const;

 private:
  bool valid_ = false;
  double log_moment_ = 0;
  double log_moment_error_ = 0;
  double quadrature_error_ = 0;  // aliasing and truncation, of phi
  double phase_error_ = 0;       // of phi, for each unit of frequency
  double mean_loss_ = 0;         // of |L|
  double weight_error_ = 0;      // mean of |L| times a weight's relative error
  int afresh_ = 4;               // rotations before the next sine
  std::vector<double> losses_;
  std::vector<double> weights_;  // sum to 1
};

// An upper bound on |phi(y)| for whole ranges of frequencies, however far out, from lower bounds on
// the density of the tilted loss (README, "Frequencies that are not evaluated").
class FrequencyDecay {
 public:
  // More cells cover more of the mass, which few uses need. log M(tilt) <= log_moment_upper.
  FrequencyDecay(const SampledGaussianPair& pair, double tilt, double log_moment_upper,
                 int cell_count = 128);

  // Returns b >= |phi(y)| for every y in [low, sqrt(2) low].
  double BoundNear(double low) const;
  // Returns b >= |phi(y)| for every y >= low.
  double BoundBeyond(double low) const;

 private:
  // Losses between `low` and `high`, at a density of at least `density` throughout.
  struct Cell {
    double low;
    double high;
    double density;
  };
  // E[D^2] and E[D^4], D = L - L', over two draws from the cells of a window; smaller windows,
  // whose fourth power weighs less, serve higher frequencies.
  struct Window {
    double square;
    double fourth_power;
  };
  // REQUIRES: cells in order and without gaps.
  void FillWindows(const std::vector<Cell>& cells);
  void FillComponents(std::vector<Cell> cells);

  std::vector<Window> windows_;
  std::vector<std::vector<Cell>> components_;  // the cells, then pairs of them merged, and so on
  std::vector<double> widest_;                 // of each element of components_
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_TILTED_LOSS_H_
