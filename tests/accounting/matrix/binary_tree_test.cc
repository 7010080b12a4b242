#include "accounting/matrix/binary_tree.h"

#include <algorithm>

#include "accounting/gaussian/mu.h"
#include "gtest/gtest.h"
#include "tests/accounting/matrix/participation_sets.h"

namespace epsledger::accounting {
namespace {

// One row for each complete dyadic block.
IntegerRows TreeRows(int64_t steps) {
  IntegerRows rows;
  for (int64_t size = 1; size <= steps; size *= 2) {
    for (int64_t first = 0; first + size <= steps; first += size) {
      std::vector<int64_t> row(steps, 0);
      std::fill(row.begin() + first, row.begin() + first + size, 1);
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(BinaryTreeSquaredSensitivity, HoldsTheWorstOfAllSets) {
  for (int64_t steps = 1; steps <= 13; ++steps) {
    const IntegerRows rows = TreeRows(steps);
    for (int64_t most = 1; most <= steps; ++most) {
      for (int64_t separation = 1; separation <= steps; ++separation) {
        const Participation participation{steps, most, separation};
        const auto exact = static_cast<double>(LargestAbsoluteSum(rows, participation));
        const Bounds bounds = BinaryTreeSquaredSensitivity(participation);
        EXPECT_LE(bounds.lower, exact) << steps << " " << most << " " << separation;
        EXPECT_GE(bounds.upper, exact) << steps << " " << most << " " << separation;
        if ((separation & (separation - 1)) == 0) {
          EXPECT_EQ(bounds.lower, bounds.upper) << steps << " " << most << " " << separation;
        }
      }
    }
  }
}

TEST(BinaryTreeSquaredSensitivity, OfOneParticipationIsTheHeight) {
  for (const int64_t steps : {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{8}, int64_t{1000},
                              (int64_t{1} << 53) - 1, int64_t{1} << 53}) {
    for (const int64_t separation : {int64_t{1}, steps}) {
      const Bounds bounds = BinaryTreeSquaredSensitivity({steps, 1, separation});
      EXPECT_EQ(bounds.lower, TreeHeight(steps)) << steps;
      EXPECT_EQ(bounds.upper, TreeHeight(steps)) << steps;
    }
  }
}

// A unit in every step: on level l the blocks hold 2^l each, so 2^d steps give the sum of 2^d 2^l.
TEST(BinaryTreeSquaredSensitivity, StaysABoundBeyondExactIntegers) {
  for (int depth = 0; depth <= 53; ++depth) {
    const int64_t steps = int64_t{1} << depth;
    const Bounds bounds = BinaryTreeSquaredSensitivity({steps, steps, 1});
    const long double exact = std::ldexp(std::ldexp(1.0L, depth + 1) - 1, depth);
    EXPECT_LE(bounds.lower, exact);
    EXPECT_GE(bounds.upper, exact);
    EXPECT_LT(bounds.upper / bounds.lower - 1, 2e-13);
  }
}

}  // namespace
}  // namespace epsledger::accounting
