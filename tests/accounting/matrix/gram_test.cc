#include "accounting/matrix/gram.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tests/accounting/matrix/participation_sets.h"

namespace epsledger::accounting {
namespace {

// A matrix of integers in [low, high], lower triangular if that is asked for.
IntegerRows RandomRows(std::mt19937_64& bits, int64_t count, int64_t steps, int64_t low,
                       int64_t high, bool lower_triangular) {
  IntegerRows rows(count, std::vector<int64_t>(steps, 0));
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t s = 0; s < steps; ++s) {
      if (lower_triangular && s > r) continue;
      rows[r][s] = low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
    }
  }
  return rows;
}

Bounds SquaredOf(const IntegerRows& rows, const Participation& participation) {
  return GramSquaredSensitivity(GramMatrix(Flat(rows), participation.steps), participation);
}

TEST(GramMatrix, HoldsTheExactProducts) {
  std::mt19937_64 bits(1);
  for (int round = 0; round < 50; ++round) {
    const IntegerRows rows = RandomRows(bits, 5, 4, -1000, 1000, false);
    const IntegerRows exact = Gram(rows, 4);
    const std::vector<Bounds> gram = GramMatrix(Flat(rows), 4);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        EXPECT_LE(gram[i * 4 + j].lower, static_cast<double>(exact[i][j]));
        EXPECT_GE(gram[i * 4 + j].upper, static_cast<double>(exact[i][j]));
        EXPECT_LT(gram[i * 4 + j].upper - gram[i * 4 + j].lower, 1e-7);
      }
    }
  }
  // A product that underflows is not nothing; a product with 0 is.
  const std::vector<Bounds> tiny = GramMatrix({1e-200, 0}, 2);
  EXPECT_GT(tiny[0].upper, 0);
  EXPECT_EQ(tiny[1].upper, 0);
  EXPECT_EQ(tiny[3].upper, 0);
}

TEST(GramSquaredSensitivity, HoldsTheTruthOfEverySetAndSign) {
  std::mt19937_64 bits(2);
  double loosest = 1;
  for (int round = 0; round < 400; ++round) {
    const int64_t steps = 1 + static_cast<int64_t>(bits() % 7);
    const int64_t low = round % 2 == 0 ? 0 : -3;
    const IntegerRows rows = RandomRows(bits, steps, steps, low, 3, round % 3 != 0);
    for (int64_t most = 1; most <= steps; ++most) {
      for (int64_t separation = 1; separation <= steps; ++separation) {
        const Participation participation{steps, most, separation};
        const Bounds bounds = SquaredOf(rows, participation);
        const auto absolute = static_cast<double>(LargestAbsoluteSum(rows, participation));
        EXPECT_GE(bounds.upper, absolute);
        EXPECT_LE(bounds.lower, static_cast<double>(LargestSignedSum(rows, participation)));
        EXPECT_LE(bounds.lower, bounds.upper);
        if (absolute > 0) loosest = std::max(loosest, bounds.upper / absolute);
        if (most == 1 || separation == steps) {
          EXPECT_NEAR(bounds.upper, absolute, 1e-12 * absolute);
          EXPECT_NEAR(bounds.lower, absolute, 1e-12 * absolute);
        }
      }
    }
  }
  // Not exact, and not far.
  EXPECT_LT(loosest, 1.5);
}

TEST(GramSquaredSensitivity, HoldsVectorContributions) {
  std::mt19937_64 bits(3);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 100; ++round) {
    const int64_t steps = 5;
    const IntegerRows rows = RandomRows(bits, steps, steps, -3, 3, true);
    const Participation participation{steps, 3, 2};
    const double upper = SquaredOf(rows, participation).upper;
    const IntegerRows gram = Gram(rows, steps);
    ForEachSet(participation, [&](const std::vector<int64_t>& set) {
      std::vector<std::vector<double>> units;
      for (size_t i = 0; i < set.size(); ++i) {
        std::vector<double> unit = {normal(bits), normal(bits), normal(bits)};
        const double norm = std::hypot(unit[0], unit[1], unit[2]);
        for (double& x : unit) x /= norm;
        units.push_back(unit);
      }
      double change = 0;
      for (size_t i = 0; i < set.size(); ++i) {
        for (size_t j = 0; j < set.size(); ++j) {
          double product = 0;
          for (int d = 0; d < 3; ++d) product += units[i][d] * units[j][d];
          change += static_cast<double>(gram[set[i]][set[j]]) * product;
        }
      }
      EXPECT_LE(change, upper * (1 + 1e-12));
    });
  }
}

// Columns that are as far apart as the separation do not meet.
TEST(GramSquaredSensitivity, IsExactForOrthogonalColumns) {
  std::mt19937_64 bits(4);
  for (int round = 0; round < 100; ++round) {
    const int64_t steps = 8, bands = 1 + static_cast<int64_t>(bits() % 4);
    IntegerRows rows = RandomRows(bits, steps, steps, -3, 3, true);
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t s = 0; s + bands <= t; ++s) rows[t][s] = 0;
    }
    for (int64_t most = 1; most <= steps; ++most) {
      for (int64_t separation = bands; separation <= steps; ++separation) {
        const Participation participation{steps, most, separation};
        const Bounds bounds = SquaredOf(rows, participation);
        const auto exact = static_cast<double>(LargestAbsoluteSum(rows, participation));
        EXPECT_NEAR(bounds.upper, exact, 1e-12 * exact);
        EXPECT_NEAR(bounds.lower, exact, 1e-12 * exact);
      }
    }
  }
}

TEST(GramSquaredSensitivity, NeverFallsWithMoreParticipation) {
  std::mt19937_64 bits(5);
  for (int round = 0; round < 20; ++round) {
    const int64_t steps = 9;
    const IntegerRows rows = RandomRows(bits, steps, steps, -3, 3, true);
    for (int64_t most = 1; most < steps; ++most) {
      for (int64_t separation = 1; separation < steps; ++separation) {
        const double upper = SquaredOf(rows, {steps, most, separation}).upper;
        EXPECT_LE(upper, SquaredOf(rows, {steps, most + 1, separation}).upper * (1 + 1e-13));
        EXPECT_GE(upper * (1 + 1e-13), SquaredOf(rows, {steps, most, separation + 1}).upper);
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
