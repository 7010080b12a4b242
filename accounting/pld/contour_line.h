#ifndef EPSLEDGER_ACCOUNTING_PLD_CONTOUR_LINE_H_
#define EPSLEDGER_ACCOUNTING_PLD_CONTOUR_LINE_H_

#include <complex>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"
#include "accounting/numeric/constants.h"
#include "accounting/pld/tilted_loss.h"
#include "accounting/pld/tilted_sum.h"

namespace epsledger::accounting {

// `count` uses of a Poisson-sampled Gaussian.
struct CountedPair {
  SampledGaussianPair pair;
  double count = 0;
};

// The target of a line: delta near epsilon, which is about e^log_delta. Aliases, the far end and
// the quadrature may each cost the share e^log_share of it.
struct ContourTarget {
  double epsilon = 0;
  double log_delta = 0;
  double log_share = 0;
};

// Parameters of the search for a line. Nothing here is a bound.
struct ContourSearch {
  double saddle = 0;    // the order at which the exponent is least
  double work = 0;      // nodes times quadrature points that the line may take
  double patience = 1;  // a factor e in the period is worth this many factors e in rounding
  absl::FunctionRef<double(double order)> rough_moment;  // log of the whole moment
};

// The nodes on one vertical line of the complex plane, and phi(y) = M(tilt + iy) / M(tilt) of each
// pair there (accounting/pld/README.md, "The contour").
struct ContourLine {
  double tilt = 0;
  double step = 0;  // between nodes; the period of the aliases is 2 pi / step
  int count = 0;    // nodes 0, ..., count - 1
  // One element for each pair.
  std::vector<std::vector<std::complex<double>>> log_phi;
  std::vector<std::vector<double>> relative_error;  // of phi
  std::vector<Bounds> log_moment;                   // log M(tilt)
  // log bounds on |phi| over each octave's half, from (count - 1) * step on, and beyond the last.
  std::vector<std::vector<double>> log_decay;
  std::vector<double> log_order_moment;  // upper bounds on log M(order)
  std::vector<double> band_start;
  double order = 0;                   // the moment of this order bounds the aliases
  double log_set_aside = -kInfinity;  // at least the mass that the cuts set aside
  TiltedSum sum;
};

// Returns a line without its sum, or nullptr if the work does not suffice. `mu` is the plain
// Gaussian in addition to the pairs. Every number of the line is a bound as its comment states,
// wherever the search placed the line. Cost: search.work nanoseconds at most.
std::unique_ptr<ContourLine> BuildContourLine(const std::vector<CountedPair>& pairs, Bounds mu,
                                              const ContourTarget& target,
                                              const ContourSearch& search);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_CONTOUR_LINE_H_
