#include "accounting/matrix/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/history.h"
#include "accounting/event/validation.h"
#include "accounting/gaussian/mu.h"
#include "gtest/gtest.h"
#include "tests/accounting/matrix/participation_sets.h"

namespace epsledger::accounting {
namespace {

constexpr double kRounding = 1e-10;

MatrixMechanism Mechanism(MatrixStrategy strategy, const Participation& participation) {
  MatrixMechanism mechanism;
  mechanism.noise_multiplier = 2;
  mechanism.strategy = strategy;
  mechanism.steps = participation.steps;
  mechanism.max_participations = participation.max_participations;
  mechanism.min_separation = participation.min_separation;
  return mechanism;
}

MatrixMechanism Toeplitz(std::vector<double> coefficients, const Participation& participation) {
  MatrixMechanism mechanism = Mechanism(MatrixStrategy::kToeplitz, participation);
  mechanism.coefficients = std::move(coefficients);
  return mechanism;
}

MatrixMechanism Matrix(const IntegerRows& rows, const Participation& participation) {
  MatrixMechanism mechanism = Mechanism(MatrixStrategy::kMatrix, participation);
  mechanism.entries = Flat(rows);
  return mechanism;
}

Bounds Mu(const MechanismEvent& event, double count = 1, const Setting& setting = {}) {
  return *ComposeGaussianMu({Use{&event, count}}, setting);
}

void ExpectSame(const Bounds& a, const Bounds& b) {
  EXPECT_LE(a.lower, b.upper);
  EXPECT_LE(b.lower, a.upper);
  EXPECT_NEAR(a.upper, b.upper, kRounding * b.upper);
  EXPECT_NEAR(a.lower, b.lower, kRounding * b.lower);
}

TEST(MatrixSensitivity, OfIndependentNoiseIsThatOfAsManyGaussians) {
  for (const Participation& participation :
       {Participation{100, 7, 3}, Participation{100, 100, 3}, Participation{100, 1, 1},
        Participation{int64_t{1} << 53, int64_t{1} << 53, 1}}) {
    const MechanismEvent identity = Mechanism(MatrixStrategy::kIdentity, participation);
    ASSERT_TRUE(Validate(identity, "event").ok());
    ExpectSame(Mu(identity), Mu(Gaussian{2}, static_cast<double>(participation.Most())));
  }
  const Participation participation{12, 3, 5};
  const MechanismEvent identity = Mechanism(MatrixStrategy::kIdentity, participation);
  ExpectSame(Mu(identity), Mu(Toeplitz({1}, participation)));
  ExpectSame(Mu(identity), Mu(Matrix(ToeplitzOf({1}, 12), participation)));
}

TEST(MatrixSensitivity, OfOneParticipationIsTheLargestColumnNorm) {
  const IntegerRows rows = {{3, 0, 0}, {1, -4, 0}, {2, 2, 1}};
  const Bounds bounds = MatrixSensitivity(Matrix(rows, {3, 1, 1}));
  EXPECT_LE(bounds.lower, std::sqrt(20.0L));
  EXPECT_GE(bounds.upper, std::sqrt(20.0L));
  EXPECT_NEAR(bounds.upper, bounds.lower, 1e-13);
}

TEST(MatrixSensitivity, OfATreeIsThatOfTreeAggregation) {
  for (const int64_t steps : {int64_t{1}, int64_t{7}, int64_t{8}, int64_t{1'000'000}}) {
    ExpectSame(Mu(Mechanism(MatrixStrategy::kBinaryTree, {steps, 1, 1})),
               Mu(TreeAggregation{2, steps}));
  }
}

// The same mechanism on full batches: unit columns, each unit every `bands` steps.
TEST(MatrixSensitivity, OfABandedMatrixIsThatOfBandedMatrixFactorization) {
  const MechanismEvent banded = BandedMatrixFactorization{2, 4, 40, 0.25};
  const Setting setting{.relation = NeighboringRelation::kReplaceSpecial};
  const std::vector<Use> opened = OpenBandedMatrixFactorizations(Flatten(banded), setting);
  const MechanismEvent toeplitz = Toeplitz({0.7, 0.5, 0.5, 0.1}, {40, 10, 4});  // norm 1
  ExpectSame(Mu(toeplitz, 1, setting), *ComposeGaussianMu(opened, setting));
}

TEST(MatrixSensitivity, OfAToeplitzMatrixIsThatOfItsRows) {
  for (const std::vector<int64_t>& column :
       {std::vector<int64_t>{9, 5, 5, 2, 1}, std::vector<int64_t>{1, 3, 2},
        std::vector<int64_t>{4, -2, 1}, std::vector<int64_t>{0, 0, 1}}) {
    for (const Participation& participation :
         {Participation{12, 3, 4}, Participation{12, 12, 1}, Participation{12, 4, 2}}) {
      const Bounds toeplitz =
          MatrixSensitivity(Toeplitz({column.begin(), column.end()}, participation));
      const Bounds matrix = MatrixSensitivity(Matrix(ToeplitzOf(column, 12), participation));
      EXPECT_LE(toeplitz.upper, matrix.upper * (1 + kRounding));
      EXPECT_LE(matrix.lower, toeplitz.upper);
      EXPECT_LE(toeplitz.lower, matrix.upper);
      if (std::is_sorted(column.rbegin(), column.rend()) && column.back() >= 0) {
        ExpectSame(toeplitz, matrix);
      }
    }
  }
}

TEST(MatrixSensitivity, OfNamedToeplitzMatricesIsThatOfTheirCoefficients) {
  const Participation participation{10, 3, 3};
  MatrixMechanism root = Mechanism(MatrixStrategy::kSquareRoot, participation);
  root.bands = 4;
  ExpectSame(MatrixSensitivity(root),
             MatrixSensitivity(Toeplitz({1, 0.5, 0.375, 0.3125}, participation)));
  MatrixMechanism buffered = Mechanism(MatrixStrategy::kBufferedToeplitz, participation);
  buffered.output_scales = {0.5};
  buffered.decays = {0.5};
  std::vector<double> halves;
  for (int t = 0; t < 10; ++t) halves.push_back(std::ldexp(1, -t));
  ExpectSame(MatrixSensitivity(buffered), MatrixSensitivity(Toeplitz(halves, participation)));
}

TEST(MatrixSensitivity, NeverFallsWithMoreParticipationOrSteps) {
  for (const MatrixStrategy strategy : {MatrixStrategy::kSquareRoot, MatrixStrategy::kBinaryTree,
                                        MatrixStrategy::kIdentity, MatrixStrategy::kToeplitz}) {
    const auto upper = [strategy](const Participation& participation) {
      MatrixMechanism mechanism = Mechanism(strategy, participation);
      if (strategy == MatrixStrategy::kSquareRoot) mechanism.bands = 50;
      if (strategy == MatrixStrategy::kToeplitz) mechanism.coefficients = {1, 2, -3};
      return MatrixSensitivity(mechanism).upper;
    };
    for (const int64_t steps : {60, 200}) {
      for (const int64_t most : {1, 2, 5, 30}) {
        for (const int64_t separation : {1, 2, 3, 8, 20}) {
          const double here = upper({steps, most, separation}) * (1 - kRounding);
          EXPECT_LE(here, upper({steps, most + 1, separation}));
          EXPECT_LE(here, upper({steps + 1, most, separation}));
          EXPECT_GE(upper({steps, most, separation}),
                    upper({steps, most, 2 * separation}) * (1 - kRounding));
        }
      }
    }
  }
}

TEST(GaussianMu, DoublesForAReplacedUnit) {
  const MechanismEvent event = Toeplitz({1, 0.5}, {10, 2, 3});
  const Setting replace{.relation = NeighboringRelation::kReplaceOne};
  EXPECT_NEAR(Mu(event, 1, replace).upper, 2 * Mu(event).upper, 1e-14);
}

TEST(GaussianMu, OfAMatrixOfZerosIsNothing) {
  EXPECT_EQ(Mu(Toeplitz({0, 0}, {10, 2, 3})).upper, 0);
  EXPECT_EQ(Mu(Matrix({{0, 0}}, {2, 2, 1})).upper, 0);
}

TEST(GaussianMu, OfEntriesAtTheEndsOfTheirDomainStaysABound) {
  const Bounds large = Mu(Toeplitz(std::vector<double>(100, 1e30), {100, 100, 1}));
  EXPECT_TRUE(std::isfinite(large.upper));
  EXPECT_LE(large.lower, large.upper);
  const Bounds small = Mu(Toeplitz({5e-324}, {100, 100, 1}));
  EXPECT_GT(small.upper, 0);
  EXPECT_LE(small.lower, small.upper);
}

}  // namespace
}  // namespace epsledger::accounting
