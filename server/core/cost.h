#ifndef EPSLEDGER_SERVER_CORE_COST_H_
#define EPSLEDGER_SERVER_CORE_COST_H_

#include <cstdint>
#include <string>

namespace epsledger::core {

// An amount of a privacy currency as an integer of 2^-64, unsigned 128-bit, saturating: from
// 5.4e-20 to 1.8e19. Costs are integers because a ledger in floating point fails open: a spend
// below half an ulp of the total vanishes.
//
// Invariant: the largest value means "no finite amount" and never fits under a cap.
class Cost {
 public:
  using Units = unsigned __int128;

  constexpr Cost() = default;
  static constexpr Cost FromUnits(Units units) { return Cost(units); }
  static constexpr Cost Infinite() { return Cost(~Units{0}); }

  // The smallest Cost >= x. +inf, NaN, negative numbers and numbers beyond the range give
  // Infinite(), so that a cost that is not proven is refused. RoundUp(0) is zero.
  static Cost RoundUp(double x);
  // The largest finite Cost <= x. NaN and x <= 0 give zero, +inf the largest finite Cost.
  static Cost RoundDown(double x);

  constexpr bool is_infinite() const { return units_ == ~Units{0}; }
  constexpr bool is_zero() const { return units_ == 0; }
  constexpr Units units() const { return units_; }

  // The smallest double >= this; +inf for Infinite().
  double ToDoubleUp() const;
  // The largest double <= this; +inf for Infinite().
  double ToDoubleDown() const;

  // Exact, or Infinite() if the exact result does not fit.
  friend Cost operator+(Cost a, Cost b);
  // The cost of n uses. REQUIRES: n >= 0. Times(0) is zero, also for Infinite().
  Cost Times(int64_t n) const;
  // this - b, or zero if b is larger. Infinite() minus anything finite is Infinite().
  Cost MinusOrZero(Cost b) const;
  // Returns how many times `step` fits into this, at most `limit`. A zero step fits `limit` times,
  // an infinite step never.
  int64_t HowMany(Cost step, int64_t limit) const;

  friend constexpr bool operator==(Cost a, Cost b) { return a.units_ == b.units_; }
  friend constexpr bool operator!=(Cost a, Cost b) { return a.units_ != b.units_; }
  friend constexpr bool operator<(Cost a, Cost b) { return a.units_ < b.units_; }
  friend constexpr bool operator<=(Cost a, Cost b) { return a.units_ <= b.units_; }
  friend constexpr bool operator>(Cost a, Cost b) { return a.units_ > b.units_; }
  friend constexpr bool operator>=(Cost a, Cost b) { return a.units_ >= b.units_; }

 private:
  explicit constexpr Cost(Units units) : units_(units) {}
  Units units_ = 0;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_COST_H_
