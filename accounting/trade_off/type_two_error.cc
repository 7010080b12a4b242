#include "accounting/trade_off/type_two_error.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kSmallestX = 1e-300;

}  // namespace

Bounds TypeTwoError(absl::FunctionRef<Bounds(double epsilon)> delta, double alpha,
                    const ConcaveOptions& options) {
  if (std::isnan(alpha)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  const double ceiling = std::min(1.0, RoundUp(1 - std::max(alpha, 0.0)));
  const auto lower_at = [&](double epsilon, double x) {
    // 1 - delta - x alpha, with x rounded up: log and exp leave a relative error of a few ulp and
    // |epsilon| ulp.
    const double x_high = x * (1 + 8 * kUnitRoundoff * (2 + std::abs(epsilon)));
    return RoundDown(RoundDown(1 - delta(epsilon).upper) - RoundUp(x_high * alpha));
  };
  if (!(alpha > 1e-290)) {
    // f is non-increasing, and the supremum is at the largest x.
    const double lower = lower_at(kLargestEpsilon / 2, std::exp(kLargestEpsilon / 2));
    const double at_end = alpha > 0 ? lower : lower_at(kLargestEpsilon, 0);
    return Bounds{std::clamp(std::max(lower, at_end), 0.0, ceiling), ceiling};
  }
  const auto objective = [&](double x) {
    const double epsilon = std::log(x);
    const Bounds d = delta(epsilon);
    // delta was evaluated at x' = x (1 +- r) instead of x. g(x) = 1 - delta - x alpha has -1 <= -x
    // alpha <= x g'(x) <= g(x) - g(0) <= 1, so g moves by at most r.
    const double r = 8 * kUnitRoundoff * (2 + std::abs(epsilon));
    const double spent = x * alpha;
    return Bounds{RoundDown(1 - d.upper) - spent - r, RoundUp(1 - d.lower) - spent + r};
  };
  ConcaveProblem problem;
  problem.low = 0;
  problem.high = RoundUp(1 / alpha, 2);
  // At x = 0 delta is 1. And max(0, 1 - x) <= delta.
  problem.known = {ConcaveSample{0, Bounds{0, 0}}};
  problem.majorants = {Majorant{0, 0, RoundUp(1 - alpha)}, Majorant{0, 1, -alpha}};
  problem.start = problem.high > 2 ? 1 : std::sqrt(0.5);
  // The search must not evaluate where the logarithm is not a valid epsilon; the bound there is 0.
  const auto guarded = [&](double x) {
    return x < kSmallestX ? Bounds{-1, RoundUp(x)} : objective(x);
  };
  const Bounds f = ConcaveMaximum(guarded, problem, options);
  const double upper = std::clamp(f.upper, 0.0, ceiling);
  return Bounds{std::clamp(f.lower, 0.0, upper), upper};
}

Bounds DeltaFromTradeOff(absl::FunctionRef<Bounds(double alpha)> f, Bounds at_zero, double epsilon,
                         const ConcaveOptions& options) {
  if (std::isnan(epsilon)) return Bounds{0, 1};
  const double at_least = std::max(0.0, RoundDown(1 - at_zero.upper));
  if (epsilon < -kLargestEpsilon) {
    return Bounds{RoundDown(-std::expm1(epsilon), 2), 1};
  }
  // delta is non-increasing in epsilon, and at least 1 - f(0).
  const double x = std::exp(std::min(epsilon, kLargestEpsilon));
  const double x_low = RoundDown(x, 2);
  const double x_high = RoundUp(x, 2);
  const auto objective = [&](double a) {
    const Bounds value = f(a);
    return Bounds{RoundDown(RoundDown(1 - value.upper) - RoundUp(x_high * a)),
                  RoundUp(RoundUp(1 - value.lower) - RoundDown(x_low * a))};
  };
  ConcaveProblem problem;
  problem.low = 0;
  problem.high = 1;
  problem.known = {ConcaveSample{0, Bounds{at_least, std::min(1.0, RoundUp(1 - at_zero.lower))}},
                   ConcaveSample{1, Bounds{RoundDown(1 - x_high), RoundUp(1 - x_low)}}};
  problem.majorants = {Majorant{0, 1, -x_low}};
  problem.start = 1 / (1 + x);
  Bounds d = ConcaveMaximum(objective, problem, options);
  // delta >= 1 - e^epsilon whatever f is.
  const double floor = std::max(at_least, RoundDown(-std::expm1(epsilon), 2));
  d.upper = std::clamp(d.upper, 0.0, 1.0);
  const double lower = epsilon > kLargestEpsilon ? at_least : std::max(d.lower, floor);
  d.lower = std::clamp(lower, 0.0, d.upper);
  return d;
}

}  // namespace epsledger::accounting
