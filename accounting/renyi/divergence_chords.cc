#include "accounting/renyi/divergence_chords.h"

#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Between neighboring orders, less 1: 2^(1/64).
constexpr double kNodesPerOctave = 64;
// Outside of this range orders are asked for themselves.
constexpr double kLeastExcess = 0x1p-40;
constexpr double kMostExcess = 0x1p40;

double OrderOf(int index) { return 1 + std::exp2(index / kNodesPerOctave); }

}  // namespace

double DivergenceChords::MomentAt(int index) {
  const auto known = moments_.find(index);
  if (known != moments_.end()) return known->second;
  // The order is a double; its distance from 1 is exact.
  const double order = OrderOf(index);
  const double moment = RoundUpNonNegative((order - 1) * divergence_(order));
  moments_.emplace(index, moment);
  return moment;
}

double DivergenceChords::At(double order) {
  const double excess = order - 1;
  if (!(excess >= kLeastExcess && excess <= kMostExcess)) return divergence_(order);
  int index = static_cast<int>(std::floor(kNodesPerOctave * std::log2(excess)));
  // The logarithm is rounded, and so are the nodes.
  while (OrderOf(index) > order) --index;
  while (OrderOf(index + 1) < order) ++index;
  const double left = OrderOf(index);
  const double right = OrderOf(index + 1);
  const double below = MomentAt(index);
  const double above = MomentAt(index + 1);
  if (!(below < kInfinity && above < kInfinity)) return divergence_(order);
  // Both differences of orders are exact or rounded once: the shares are off by a few ulp of
  // themselves, and so is the sum of two terms that are not negative.
  const double share = (order - left) / (right - left);
  const double rest = (right - order) / (right - left);
  return RoundUpNonNegative((rest * below + share * above) / excess, 12);
}

}  // namespace epsledger::accounting
