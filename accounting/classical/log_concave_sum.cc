#include "accounting/classical/log_concave_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kNegligible = 1e-17;
constexpr double kHopelessError = 0.25;  // of a logarithm: beyond this the sum has no correct digit

// Returns at least e^y, for 0 <= y <= 1; +inf beyond.
double ExpUp(double y) { return y <= 1 ? 1 + y * (1 + y) : kInfinity; }

// b (1 + e^{r} + ... + e^{(w-1) r}) for r = log(a/b) / w: the chord from b, inclusive, towards a.
// d log(sum) / d log(a/b) is in [0, 1], so the rounding of the logarithm enters unchanged.
double ChordSum(double a, double b, double log_ratio, double width) {
  if (log_ratio == 0) return b * width;
  const double step = log_ratio / width;
  return log_ratio > 0 ? a * std::exp(-step) * (std::expm1(-log_ratio) / std::expm1(-step))
                       : b * (std::expm1(log_ratio) / std::expm1(step));
}

}  // namespace

Bounds LogConcaveSum(absl::FunctionRef<Approximation(double)> log_f,
                     absl::FunctionRef<double(double, double)> curvature, double first, double last,
                     double start, double tolerance) {
  const Approximation at_start = log_f(start);
  const double reference = at_start.value;
  double lower = std::max(0.0, 1 - at_start.error);
  double upper = ExpUp(at_start.error);
  int blocks = 1;
  bool complete = true;
  for (const double direction : {1.0, -1.0}) {
    const double end = direction > 0 ? last : first;
    double from = start;
    Approximation at_from = at_start;
    double f_from = 1;
    double width = 1;
    while (from != end) {
      if (++blocks > kLargestBlockCount) {
        complete = false;
        break;
      }
      const double left = std::abs(end - from);
      width = std::min(left, 1 + std::floor(1.25 * width));
      double excess = 0;
      while (width > 1) {
        const double to = from + direction * width;
        const double bend = curvature(std::min(from, to), std::max(from, to));
        excess = bend * width * width;
        if (excess <= tolerance) break;
        width = std::clamp(std::floor(std::sqrt(tolerance / bend)), 1.0, width - 1);
        excess = 0;
      }
      const double to = from + direction * width;
      const Approximation at_to = log_f(to);
      if (!(at_to.error <= kHopelessError)) {
        complete = false;
        break;
      }
      const double f_to = std::exp(at_to.value - reference);
      const double fall = at_from.value - at_to.value;
      const double sum = width == 1 ? f_to : ChordSum(f_from, f_to, fall, width);
      const double error = at_from.error + at_to.error +
                           kUlp * (16 + 2 * std::abs(fall) + 2 * std::abs(at_to.value - reference));
      lower += sum * std::max(0.0, 1 - error);
      upper += sum * ExpUp(error) * ExpUp(excess / 8) + std::numeric_limits<double>::min();
      // Log-concavity: every further step falls by at least y; e^-y / (1 - e^-y) < 1 / y.
      const double y = (fall - at_from.error - at_to.error - kUlp * std::abs(fall)) / width;
      if (y > 0) {
        const double tail = f_to / y * ExpUp(error);
        if (tail <= kNegligible * lower) {
          upper += tail * (1 + 4 * kUlp) + std::numeric_limits<double>::min();
          break;
        }
      }
      from = to;
      at_from = at_to;
      f_from = f_to;
    }
  }
  const double additions = 2.0 * blocks + 8;
  const double log_lower = std::log(RoundDownNonNegative(lower, additions));
  const double log_upper = complete ? std::log(RoundUp(upper, additions)) : kInfinity;
  const auto slack = [&](double x) { return 4 * kUlp * (std::abs(reference) + std::abs(x) + 1); };
  return Bounds{
      std::isfinite(log_lower) ? NextDown(reference + log_lower - slack(log_lower)) : -kInfinity,
      std::isfinite(log_upper) ? NextUp(reference + log_upper + slack(log_upper)) : kInfinity};
}

}  // namespace epsledger::accounting
