#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_PIECEWISE_LINEAR_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_PIECEWISE_LINEAR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// One outcome of a pair of discrete laws: its probability under the null and the alternative.
struct OutcomeMass {
  double null_mass;
  double alternative_mass;
};

// A piecewise linear trade-off function, T(null, alternative) of two discrete laws: the best test
// rejects the outcomes in order of their likelihood ratio, and each outcome is one straight piece.
//
// The masses are known to a relative error e. This moves f little, and on the safe side where
// needed: for every test phi, E_null[phi] and E_alternative[1 - phi] change by a factor within 1 +-
// e, so
//   f_computed(alpha (1 + e)) / (1 + e) <= f(alpha) <= f_computed(alpha (1 - e)) / (1 - e).
// Immutable.
class PiecewiseLinear {
 public:
  // Returns the linear interpolation of (type_one[i], type_two[i]), or after rounding its lower
  // convex hull, which is at most the interpolation everywhere and within 1e-9 of it.
  // INVALID_ARGUMENT with `field` in the message unless type_one increases strictly from 0 to 1,
  // type_two is non-increasing and ends at 0, type_two[i] <= 1 - type_one[i] and the points are
  // convex, the last two to within 1e-9. Linear cost.
  static absl::StatusOr<PiecewiseLinear> FromPoints(const std::vector<double>& type_one,
                                                    const std::vector<double>& type_two,
                                                    const std::string& field);

  // T(null, alternative) of these outcomes, whose masses have relative error at most
  // `relative_error`. Outcomes of equal likelihood ratio (to 1e-12) become one.
  // `underflow`: masses below 1e-290 may be missing; the bounds allow 1e-280 for them. Cost: n log
  // n. REQUIRES: no NaN, nothing negative, both columns add up to 1 to within the error.
  static PiecewiseLinear FromOutcomes(std::vector<OutcomeMass> outcomes, double relative_error,
                                      bool underflow = false);

  // f_{epsilon, delta}(a) = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)), which is
  // T of four outcomes ([KOV15] Thm 3.1, [DRS19] Prop 2.5). epsilon in [0, inf], delta in [0, 1].
  static PiecewiseLinear ApproximateDp(double epsilon, double delta);

  // Bounds on f(alpha), alpha in [0, 1]. Width: about 4 relative_error(). Cost: log n.
  Bounds At(double alpha) const;

  // Bounds on delta(epsilon) = 1 + f*(-e^epsilon) = sum of (alternative - e^epsilon null)_+: the
  // profile of (alternative, null). Linear cost.
  Bounds Delta(double epsilon) const;

  // f^-1 = T(alternative, null).
  PiecewiseLinear Inverse() const;

  // In decreasing order of alternative / null; no two ratios equal.
  const std::vector<OutcomeMass>& outcomes() const { return outcomes_; }
  double relative_error() const { return relative_error_; }
  bool underflowed() const { return negligible_ > 0; }

 private:
  struct Vertex {
    double type_one;
    double type_two;
  };

  double Interpolate(double alpha) const;

  std::vector<OutcomeMass> outcomes_;
  std::vector<Vertex> vertices_;  // one more than outcomes_; type_one non-decreasing
  double relative_error_ = 0;
  double negligible_ = 0;  // null or alternative mass that may have been lost
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_PIECEWISE_LINEAR_H_
