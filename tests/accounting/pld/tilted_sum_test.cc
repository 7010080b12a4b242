#include "accounting/pld/tilted_sum.h"

#include <cmath>
#include <complex>

#include "accounting/pld/fft.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// A sum with a node at every frequency that a lattice of this size has.
TiltedSum SumOf(int64_t points, double first, double decay) {
  TiltedSum sum;
  sum.tilt = 0.5;
  sum.interval = 0.01;
  sum.points = points;
  sum.largest_loss = 1;
  sum.nodes.push_back({0, {first, 0}});
  for (int64_t k = 1; k <= points / 2; ++k) {
    const double size = first * std::exp(-decay * static_cast<double>(k)) / 4;
    sum.nodes.push_back({k, std::polar(size, 0.7 * static_cast<double>(k))});
  }
  return sum;
}

// 2 Re(weight e^{-2 pi i index j / points}), term by term in extended precision.
long double Truth(const TiltedSum& sum, int64_t index) {
  long double total = 0;
  for (const TiltedSum::Node& node : sum.nodes) {
    if (node.index == 0) {
      total += node.weight.real();
      continue;
    }
    const int64_t turns = ((node.index * index) % sum.points + sum.points) % sum.points;
    const long double phase =
        2 * acosl(-1.0L) * static_cast<long double>(turns) / static_cast<long double>(sum.points);
    total += 2 * (static_cast<long double>(node.weight.real()) * cosl(phase) +
                  static_cast<long double>(node.weight.imag()) * sinl(phase));
  }
  return total;
}

TEST(TiltedSum, TabulatedHoldsTheSumAtEveryIndex) {
  for (const int64_t points : {8, 256, 4096}) {
    const FourierTransform transform(static_cast<size_t>(points));
    TiltedSum above = SumOf(points, 1, 8.0 / static_cast<double>(points));
    TiltedSum below = SumOf(points, 0.3, 2.0 / static_cast<double>(points));
    const TiltedSum before = above;
    Tabulate(above, below, transform);
    ASSERT_EQ(above.table.size(), static_cast<size_t>(points));
    for (int64_t index = 0; index < points; index += points / 8) {
      EXPECT_LE(std::abs(static_cast<double>(Truth(above, index) -
                                             above.table[static_cast<size_t>(index)])),
                above.table_error);
      EXPECT_LE(std::abs(static_cast<double>(Truth(below, index) -
                                             below.table[static_cast<size_t>(index)])),
                below.table_error);
    }
    EXPECT_LT(above.table_error, 1e-11);
    // Bounds from the table and from the nodes hold the same number, also beyond the period.
    for (const int64_t index : {int64_t{0}, int64_t{3}, points - 1, points + 2, int64_t{-5}}) {
      const Bounds tabulated = above.LogProfileAt(index);
      const Bounds summed = before.LogProfileAt(index);
      EXPECT_LE(tabulated.lower, summed.upper) << index;
      EXPECT_GE(tabulated.upper, summed.lower) << index;
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
