#include "accounting/numeric/search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "boost/math/policies/policy.hpp"
#include "boost/math/tools/minima.hpp"
#include "boost/math/tools/toms748_solve.hpp"

namespace epsledger::accounting {
namespace {

// No branch of Boost.Math may throw across our files.
using NoThrow = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<false>>;

bool Narrow(double a, double b, double tolerance) {
  return std::abs(b - a) <= tolerance * std::max(std::abs(a), std::abs(b));
}

}  // namespace

Crossing NarrowCrossing(absl::FunctionRef<double(double)> f, double holds, double fails,
                        double tolerance, int max_evaluations) {
  Crossing best{holds, fails};
  int evaluations = 0;
  const auto note = [&](double x) {
    ++evaluations;
    double value = f(x);
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
    (value <= 0 ? best.holds : best.fails) = x;
    return value;
  };
  // Bisection until both ends are finite (an end may be +inf where a bound gives up), then TOMS
  // 748, then bisection again for the rest.
  double at_holds = f(holds);
  double at_fails = f(fails);
  const auto bisect = [&] {
    const double middle = best.holds + (best.fails - best.holds) / 2;
    if (middle == best.holds || middle == best.fails) return false;  // neighboring doubles
    const double value = note(middle);
    (value <= 0 ? at_holds : at_fails) = value;
    return true;
  };
  while (evaluations < max_evaluations && !Narrow(best.holds, best.fails, tolerance) &&
         !(std::isfinite(at_holds) && std::isfinite(at_fails) && at_holds < 0)) {
    if (!bisect()) return best;
  }
  if (evaluations < max_evaluations && !Narrow(best.holds, best.fails, tolerance)) {
    bool finite = true;
    const auto finite_f = [&](double x) {
      const double value = note(x);
      if (std::isfinite(value)) return value;
      finite = false;
      return value > 0 ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
    };
    const double left = std::min(best.holds, best.fails);
    const double right = std::max(best.holds, best.fails);
    const double at_left = left == best.holds ? at_holds : at_fails;
    const double at_right = left == best.holds ? at_fails : at_holds;
    std::uintmax_t limit = static_cast<std::uintmax_t>(max_evaluations - evaluations);
    boost::math::tools::toms748_solve(
        finite_f, left, right, at_left, at_right,
        [&](double a, double b) { return !finite || Narrow(a, b, tolerance); }, limit, NoThrow());
  }
  // TOMS 748 reports points in its own order: the last point noted on each side is inside the
  // bracket, because TOMS 748 evaluates only inside its current bracket.
  while (evaluations < max_evaluations && !Narrow(best.holds, best.fails, tolerance)) {
    if (!bisect()) break;
  }
  return best;
}

Minimum MinimizeFrom(absl::FunctionRef<double(double)> f, double start, double step, double low,
                     double high, double tolerance, int max_evaluations) {
  Minimum best{start, std::numeric_limits<double>::infinity()};
  int evaluations = 0;
  const auto note = [&](double x) {
    ++evaluations;
    double value = f(x);
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
    if (value < best.value) best = Minimum{x, value};
    return value;
  };
  start = std::clamp(start, low, high);
  best.at = start;
  double middle = start;
  double at_middle = note(middle);
  double left = std::max(low, start - step);
  double at_left = note(left);
  double right = std::min(high, start + step);
  double at_right = note(right);
  // Moves downhill with growing steps until the middle is lowest.
  while (evaluations < max_evaluations) {
    step *= 2;
    // A plateau of +inf on one side (an order at which nothing is finite) is uphill.
    if (at_left < at_middle && left > low) {
      right = middle;
      at_right = at_middle;
      middle = left;
      at_middle = at_left;
      left = std::max(low, middle - step);
      at_left = note(left);
    } else if (at_right < at_middle && right < high) {
      left = middle;
      at_left = at_middle;
      middle = right;
      at_middle = at_right;
      right = std::min(high, middle + step);
      at_right = note(right);
    } else if (std::isinf(at_middle) && right < high) {
      right = std::min(high, right + step);
      at_right = note(right);
      if (std::isfinite(at_right)) {
        left = middle;
        middle = right;
        at_middle = at_right;
        right = std::min(high, middle + step);
        at_right = note(right);
      }
    } else if (std::isinf(at_middle) && left > low) {
      left = std::max(low, left - step);
      at_left = note(left);
      if (std::isfinite(at_left)) {
        right = middle;
        middle = left;
        at_middle = at_left;
        left = std::max(low, middle - step);
        at_left = note(left);
      }
    } else {
      break;
    }
  }
  if (!(right - left > tolerance) || !std::isfinite(best.value)) return best;
  // Boost's stopping width is relative to |x| + 1/4, so the code moves the origin to the middle.
  const int bits = std::clamp(static_cast<int>(std::ceil(-std::log2(tolerance))), 4, 26);
  std::uintmax_t limit = static_cast<std::uintmax_t>(std::max(1, max_evaluations - evaluations));
  boost::math::tools::brent_find_minima(
      [&](double x) {
        const double value = note(middle + x);
        return std::isinf(value) ? std::numeric_limits<double>::max() : value;
      },
      left - middle, right - middle, bits, limit);
  return best;
}

}  // namespace epsledger::accounting
