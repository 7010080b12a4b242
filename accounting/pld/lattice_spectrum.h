#ifndef EPSLEDGER_ACCOUNTING_PLD_LATTICE_SPECTRUM_H_
#define EPSLEDGER_ACCOUNTING_PLD_LATTICE_SPECTRUM_H_

#include <complex>
#include <cstdint>
#include <vector>

#include "accounting/pld/fft.h"
#include "accounting/pld/loss_measure.h"
#include "accounting/pld/tilted_sum.h"

namespace epsledger::accounting {

// Two composed measures on one lattice, above and below the truth.
struct ComposedSums {
  TiltedSum above;
  TiltedSum below;
};

// The characteristic functions of the measures of a history, tilted, ready to be raised to their
// counts. Building costs one Fourier transform an event; a count costs nothing until Compose.
class LatticeSpectrum {
 public:
  // `counts[i]` uses of `measures[i]`. Frequencies whose product is below e^-90 at these counts are
  // dropped and counted as error, so counts may grow later but not shrink. moment_orders, all above
  // the tilt, bound the aliases from above.
  // REQUIRES: every measure's finite part is non-empty, tilt > 0, tilt * (points * interval) < 1e5.
  LatticeSpectrum(const std::vector<MeasurePair>& measures, const std::vector<double>& counts,
                  double interval, double tilt, std::vector<double> moment_orders,
                  const FourierTransform& transform);

  // Returns the composition with these counts, each at least the count that the constructor got.
  ComposedSums Compose(const std::vector<double>& counts) const;

  double interval() const { return interval_; }
  double tilt() const { return tilt_; }

 private:
  // The contribution of one measure at each kept frequency.
  struct Factor {
    std::vector<std::complex<double>> log;  // of the tilted, normalized characteristic function
    std::vector<double> error;              // its absolute error
    double log_scale = 0;  // near log sum mass e^{tilt loss}; not an estimate, a unit
    double log_mass = 0;
    int64_t last = 0;                 // the largest loss is last * interval
    std::vector<double> log_moments;  // at moment_orders_
  };
  struct Side {
    std::vector<Factor> factors;
    std::vector<int64_t> frequencies;
  };

  void AddFactors(const MeasurePair& measures, double count, const FourierTransform& transform);
  TiltedSum Compose(const Side& side, const std::vector<double>& counts) const;

  const double interval_;
  const double tilt_;
  const int64_t points_;
  const std::vector<double> moment_orders_;
  Side above_;
  Side below_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_LATTICE_SPECTRUM_H_
