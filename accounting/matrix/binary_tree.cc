#include "accounting/matrix/binary_tree.h"

#include <cmath>

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Returns, rounded to nearest, sum_l (q m^2 + r^2): on level l at most K participations lie in
// complete blocks, at most m in one, and K = q m + r.
double SumOverLevels(const Participation& participation) {
  double total = 0;
  for (int64_t size = 1; size <= participation.steps; size *= 2) {
    const int64_t complete = participation.steps / size * size;
    const int64_t in_all = participation.MostOf(complete);
    const int64_t in_one = participation.MostOf(size);
    const double full = static_cast<double>(in_all / in_one);
    const double rest = static_cast<double>(in_all % in_one);
    const double block = static_cast<double>(in_one);
    total += full * block * block + rest * rest;
  }
  return total;
}

}  // namespace

Bounds BinaryTreeSquaredSensitivity(const Participation& participation) {
  Participation powers = participation;
  powers.min_separation = 1;
  while (powers.min_separation < participation.min_separation) powers.min_separation *= 2;
  const double lower = SumOverLevels(powers);
  const double upper = SumOverLevels(participation);
  // Sums of integers that stay below 2^53 are exact.
  if (upper < 0x1p53) return Bounds{lower, upper};
  return Bounds{RoundDownNonNegative(lower, 300), RoundUp(upper, 300)};
}

}  // namespace epsledger::accounting
