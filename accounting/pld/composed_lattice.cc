#include "accounting/pld/composed_lattice.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/functional/function_ref.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

double LogAdd(double a, double b, bool up) {
  const double sum = LogAddExp(a, b);
  return up ? RoundUp(sum, 6) : RoundDown(sum, 6);
}

// Returns the epsilon between two lattice points at which the chord from e^log_left to e^log_right,
// linear in e^epsilon, has the value e^log_target; log_left >= log_target >= log_right.
double OnChord(double epsilon_left, double interval, double log_left, double log_right,
               double log_target, bool up) {
  const double over = std::expm1(std::min(log_left - log_target, 700.0));
  const double under = -std::expm1(log_right - log_target);
  double share = over + under > 0 ? over / (over + under) : 1;
  share =
      up ? std::min(1.0, share * (1 + 1e-13) + 1e-15) : std::max(0.0, share * (1 - 1e-13) - 1e-15);
  const double step = std::log1p(share * std::expm1(interval));
  return up ? RoundUp(epsilon_left + RoundUp(step, 4), 2)
            : RoundDown(epsilon_left + RoundDown(step, 4), 2);
}

// Returns the largest j in [0, start] that a few tries find with log_profile(j) > log_target. A
// profile known only from below is not monotone: it is -inf where rounding exceeds it.
std::optional<int64_t> LastOver(absl::FunctionRef<double(int64_t)> log_profile, int64_t start,
                                double log_target) {
  constexpr int64_t kOneByOne = 12;
  int64_t under = start + 1;
  for (int64_t back = 0; start - back >= 0; back = back < kOneByOne ? back + 1 : 2 * back) {
    int64_t over = start - back;
    if (log_profile(over) <= log_target) {
      under = over;
      continue;
    }
    while (under - over > 1) {
      const int64_t middle = over + (under - over) / 2;
      (log_profile(middle) > log_target ? over : under) = middle;
    }
    return over;
  }
  return std::nullopt;
}

}  // namespace

Bounds ComposedLattice::Epsilon(double log_delta, double near) const {
  const double h = interval;
  const auto top = static_cast<int64_t>(std::min(largest_index, 9e15));
  Bounds epsilon{0, kInfinity};

  // Upper bound: the smallest lattice point where the bound is at most delta, then the chord before
  // it.
  const auto above = [&](int64_t j) {
    const double finite = j >= top ? -kInfinity : sums.above.LogProfileAt(j).upper;
    return LogAdd(finite, log_infinity_above, true);
  };
  const auto below = [&](int64_t j) {
    const double finite = j >= top ? -kInfinity : sums.below.LogProfileAt(j).lower;
    return LogAdd(finite, log_infinity_below, false);
  };
  // Secant steps along the tilt, kept inside a bracket [over, under] of lattice points.
  const auto last_over = [&](const auto& log_profile, int64_t start) -> std::optional<int64_t> {
    int64_t over = -1;    // the profile exceeds delta here, or this is -1
    int64_t under = top;  // the profile is at most delta here
    int64_t j = std::clamp<int64_t>(start, 0, std::max<int64_t>(top - 1, 0));
    for (int evaluation = 0; under - over > 1 && evaluation < 120; ++evaluation) {
      const double excess = log_profile(j) - log_delta;
      (excess > 0 ? over : under) = j;
      double step = excess / (sums.above.tilt * h);
      if (!std::isfinite(step)) step = excess > 0 ? 1e9 : -1e9;
      step = excess > 0 ? std::max(1.0, std::ceil(step)) : std::min(-1.0, std::floor(step));
      double next = static_cast<double>(j) + std::clamp(step, -1e9, 1e9);
      // Every fourth step halves the bracket, since secant steps can become tiny.
      const bool outside = next <= static_cast<double>(over) || next >= static_cast<double>(under);
      if (outside || evaluation % 4 == 3) {
        next = std::floor(0.5 * (static_cast<double>(over) + static_cast<double>(under)));
      }
      j = std::clamp<int64_t>(static_cast<int64_t>(next), over + 1, std::max(over + 1, under - 1));
    }
    if (under - over > 1) return std::nullopt;
    return over;
  };
  const auto guess = static_cast<int64_t>(std::min(9e15, near / h));
  const std::optional<int64_t> over_above =
      log_infinity_above < log_delta ? last_over(above, guess) : std::nullopt;
  if (over_above.has_value()) {
    if (*over_above < 0) {
      epsilon.upper = 0;
    } else {
      epsilon.upper = OnChord(static_cast<double>(*over_above) * h, h, above(*over_above),
                              above(*over_above + 1), log_delta, true);
    }
  }
  if (log_infinity_below > log_delta) {
    epsilon.lower = kInfinity;
    return epsilon;
  }
  const std::optional<int64_t> over_below = LastOver(below, over_above.value_or(guess), log_delta);
  if (over_below.has_value() && *over_below >= 0) {
    epsilon.lower =
        std::max(0.0, OnChord(static_cast<double>(*over_below) * h, h, below(*over_below),
                              below(*over_below + 1), log_delta, false));
  }
  return epsilon;
}

Bounds ComposedLattice::LogDelta(double epsilon) const {
  const double h = interval;
  Bounds log_delta{log_infinity_below, log_infinity_above};
  const double quotient = std::floor(epsilon / h);
  if (quotient >= largest_index) return log_delta;
  const auto j = static_cast<int64_t>(quotient);
  const Bounds left = sums.above.LogProfileAt(j);
  const Bounds right = sums.above.LogProfileAt(j + 1);
  const Bounds left_below = sums.below.LogProfileAt(j);
  const Bounds right_below = sums.below.LogProfileAt(j + 1);
  // On the chord, linear in e^epsilon; the share is rounded towards the worse end.
  const double offset = epsilon - quotient * h;
  const double share = std::expm1(offset) / std::expm1(h);
  const double slip = 1e-14 + 4 * kUnitRoundoff * std::abs(epsilon) / h;
  const double up = std::clamp(share - slip, 0.0, 1.0);
  const double down = std::clamp(share + slip, 0.0, 1.0);
  const double above = LogAdd(left.upper + std::log1p(-up), right.upper + std::log(up), true);
  const double below =
      LogAdd(left_below.lower + std::log1p(-down), right_below.lower + std::log(down), false);
  log_delta.upper = std::min(0.0, LogAdd(above, log_delta.upper, true));
  log_delta.lower = LogAdd(below, log_delta.lower, false);
  return log_delta;
}

}  // namespace epsledger::accounting
