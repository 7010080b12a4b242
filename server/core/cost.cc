#include "server/core/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace epsledger::core {
namespace {

constexpr int kFractionBits = 64;
constexpr Cost::Units kLargestFinite = ~Cost::Units{0} - 1;

}  // namespace

Cost Cost::RoundUp(double x) {
  if (!(x >= 0)) return Infinite();  // NaN included
  if (x == 0) return Cost();
  // Scaling by 2^64 is exact in double for every x >= 2^-1074; ceil is exact too.
  const double scaled = std::ceil(std::ldexp(x, kFractionBits));
  if (!(scaled < std::ldexp(1.0, 128))) return Infinite();
  return Cost(static_cast<Units>(scaled));
}

Cost Cost::RoundDown(double x) {
  if (!(x > 0)) return Cost();
  const double scaled = std::floor(std::ldexp(x, kFractionBits));
  if (!(scaled < std::ldexp(1.0, 128))) return Cost(kLargestFinite);
  return Cost(static_cast<Units>(scaled));
}

double Cost::ToDoubleUp() const {
  if (is_infinite()) return std::numeric_limits<double>::infinity();
  double x = static_cast<double>(units_);
  // The conversion rounds to nearest; step up if it rounded down. 2^128 itself is above every cost.
  if (x < std::ldexp(1.0, 128) && static_cast<Units>(x) < units_) {
    x = std::nextafter(x, std::numeric_limits<double>::infinity());
  }
  return std::ldexp(x, -kFractionBits);
}

double Cost::ToDoubleDown() const {
  if (is_infinite()) return std::numeric_limits<double>::infinity();
  double x = static_cast<double>(units_);
  if (x >= std::ldexp(1.0, 128) || static_cast<Units>(x) > units_) {
    x = std::nextafter(x, 0.0);
  }
  return std::ldexp(x, -kFractionBits);
}

Cost operator+(Cost a, Cost b) {
  Cost::Units sum;
  if (__builtin_add_overflow(a.units_, b.units_, &sum)) return Cost::Infinite();
  // If a or b is infinite, the sum overflows unless the other is zero; then the sum is infinite
  // already.
  return Cost(sum);
}

Cost Cost::Times(int64_t n) const {
  if (n == 0) return Cost();
  Units product;
  if (is_infinite() || __builtin_mul_overflow(units_, static_cast<Units>(n), &product)) {
    return Infinite();
  }
  return Cost(product);
}

Cost Cost::MinusOrZero(Cost b) const {
  if (b.units_ >= units_) return Cost();
  if (is_infinite()) return Infinite();
  return Cost(units_ - b.units_);
}

int64_t Cost::HowMany(Cost step, int64_t limit) const {
  if (step.is_infinite()) return 0;
  if (step.is_zero()) return limit;
  const Units times = units_ / step.units_;
  return times >= static_cast<Units>(limit) ? limit : static_cast<int64_t>(times);
}

}  // namespace epsledger::core
