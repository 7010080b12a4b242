#include "accounting/classical/reveal.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Moves outward by the error of a few operations on logarithms; -inf stays, since it is the log of
// exactly 0.
double LogUp(double x) {
  if (x == -kInfinity) return x;
  return std::min(0.0, RoundUp(x, 8) + 8 * 2 * kUnitRoundoff);
}

double LogDown(double x) {
  if (x == -kInfinity) return x;
  return RoundDown(x, 8) - 8 * 2 * kUnitRoundoff;
}

}  // namespace

Bounds LogKeep(const std::vector<CountedParameters>& events) {
  Bounds sum{0, 0};
  for (const CountedParameters& e : events) {
    if (e.parameters.delta == 0 || e.count == 0) continue;
    if (!(e.parameters.delta >= 0)) return Bounds{-kInfinity, 0};
    if (e.parameters.delta >= 1) return Bounds{-kInfinity, -kInfinity};
    const double term = e.count * std::log1p(-e.parameters.delta);
    sum.lower = RoundDown(sum.lower + RoundDown(term, 2));
    sum.upper = std::min(0.0, RoundUp(sum.upper + RoundUp(term, 2)));
  }
  return sum;
}

Bounds LogOfComplement(Bounds x) {
  // The operand counts as exact, so the error is relative even where the result is tiny.
  const double lower = Log1mExp(std::min(0.0, x.upper));
  const double upper = Log1mExp(std::min(0.0, x.lower));
  return Bounds{lower == -kInfinity ? lower : RoundDown(lower, 16),
                upper == -kInfinity ? upper : std::min(0.0, RoundUp(upper, 16))};
}

Bounds LogReveal(Bounds log_keep) { return LogOfComplement(log_keep); }

Bounds WithReveal(Bounds log_keep, const ProfileValue& rest) {
  if (log_keep.upper == -kInfinity) return Bounds{0, 0};
  const Bounds complement{RoundDown(log_keep.lower + rest.log_complement.lower),
                          std::min(0.0, RoundUp(log_keep.upper + rest.log_complement.upper))};
  if (complement.upper < -kLog2) return LogOfComplement(complement);
  const Bounds reveal = LogReveal(log_keep);
  return Bounds{
      std::min(0.0, LogDown(LogAddExp(reveal.lower, log_keep.lower + rest.log_delta.lower))),
      LogUp(LogAddExp(reveal.upper, log_keep.upper + rest.log_delta.upper))};
}

}  // namespace epsledger::accounting
