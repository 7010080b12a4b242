#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_GAUSSIAN_MIXTURE_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_GAUSSIAN_MIXTURE_H_

#include <cstddef>
#include <vector>

#include "accounting/numeric/computed.h"

namespace epsledger::accounting {

// One normal law of a mixture.
struct MixturePart {
  double shift = 0;   // in standard deviations of the noise, >= 0
  double weight = 0;  // a probability
};

// The law sum_i weight_i N(shift_i, 1), as a density over that of N(0, 1). Immutable.
class GaussianMixture {
 public:
  // The shifts and weights each carry a relative error of at most `relative_error`; the sum of the
  // weights may differ from 1 by as much.
  // REQUIRES: shifts >= 0 finite, weights >= 0, not all weights 0, relative_error < 1e-6.
  GaussianMixture(std::vector<MixturePart> parts, double relative_error);

  struct LogDensity {
    Computed value;  // the error is infinite where no digits are left
    double slope;    // in t, not a bound
  };
  // log sum_i weight_i e^{shift_i t - shift_i^2 / 2}: convex in t, with a slope between the
  // smallest and the largest shift. t = -inf gives log at_zero(). Cost: 25 ns a part.
  LogDensity At(double t) const;

  // Without shift 0; weights positive, shifts increasing.
  const std::vector<MixturePart>& parts() const { return parts_; }
  double at_zero() const { return at_zero_; }  // the weight of shift 0
  size_t terms() const { return terms_; }      // how many parts there were
  double largest_shift() const { return largest_shift_; }
  double relative_error() const { return relative_error_; }

 private:
  std::vector<MixturePart> parts_;
  size_t terms_;
  double relative_error_;
  double largest_shift_;
  double at_zero_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_GAUSSIAN_MIXTURE_H_
