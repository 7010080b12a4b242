#ifndef EPSLEDGER_ACCOUNTING_PLD_TILTED_SUM_H_
#define EPSLEDGER_ACCOUNTING_PLD_TILTED_SUM_H_

#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "accounting/numeric/bounds.h"
#include "accounting/pld/fft.h"

namespace epsledger::accounting {

// A composed profile f, given by its Fourier sum along the line Re z = tilt.
//
// With H(e) = e^{tilt e - log_scale} f(e), the nodes below sum to the aliased
//   sum over all integers m of H(e + m period)
// up to a stated error. Every alias is positive, so the sum itself is an upper bound on H;
// subtracting Chernoff's bound on the aliases makes it a lower bound (README, "The tilted sum").
class TiltedSum {
 public:
  // One conjugate pair of nodes: the sum holds 2 Re(weight e^{-2 pi i index e / period}), or the
  // weight itself where index = 0.
  struct Node {
    int64_t index;
    std::complex<double> weight;
  };
  // log E[e^{order L}] <= log_moment for the composed finite losses L.
  struct Moment {
    double order;
    double log_moment;
  };

  double tilt = 0;       // > 0
  double log_scale = 0;  // log E[e^{tilt L}]
  double log_scale_error = 0;
  double log_mass = 0;                                            // f <= e^log_mass everywhere
  double largest_loss = std::numeric_limits<double>::infinity();  // f = 0 from here on
  // period = interval * points, and f is known only at multiples of interval. points = 0: f is
  // known everywhere and `interval` is the period itself.
  double interval = 0;
  int64_t points = 0;
  std::vector<Node> nodes;
  double error = 0;  // of the sum of the nodes, except phases and additions
  // If not empty, the sum of the nodes at each of the `points` indices, except for `error` within
  // table_error (Tabulate).
  std::vector<double> table;
  double table_error = 0;
  std::vector<Moment> moments;  // at orders above the tilt

  double period() const { return points == 0 ? interval : interval * static_cast<double>(points); }

  // Bounds on log f(epsilon). REQUIRES: points == 0.
  Bounds LogProfile(double epsilon) const;
  // Bounds on log f(index * interval). REQUIRES: points > 0. Costs a sine and a cosine a node, or
  // one look into the table.
  Bounds LogProfileAt(int64_t index) const;

 private:
  Bounds Finish(double epsilon, double sum, double rounding) const;
  // Bounds the aliases at epsilon, in units of H.
  double Aliases(double epsilon) const;
};

// Fills the tables of two sums on the same points with one transform: cheaper than the sums at
// more than a few indices where many nodes are not negligible. A table is known to `table_error`,
// in no other respect are bounds changed.
// REQUIRES: above.points == below.points == transform.size().
void Tabulate(TiltedSum& above, TiltedSum& below, const FourierTransform& transform);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_TILTED_SUM_H_
