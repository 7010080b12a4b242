#include "client/trainers/run/noise_choice.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "epsledger/refusal.h"

namespace epsledger::trainers {
namespace {

CellBalance Renyi(double order, double cap) {
  return {.quantity = Quantity::kRenyiDivergence, .order = order, .cap = cap};
}

// The whole steps of multiplier z that one Renyi cell holds.
double StepsThatFit(const CellBalance& cell, double z, double shift) {
  return std::floor(cell.cap / (cell.order * shift * shift / (2 * z * z)));
}

TEST(NoiseMultiplierThatFills, HoldsThatManyStepsAndNotOneMore) {
  const CapCells cap = {.cells = {Renyi(4, 0.01), Renyi(16, 0.3), Renyi(64, 0.5)}};
  for (const int steps : {1, 2, 100, 12345}) {
    for (const auto& [relation, shift] : {std::pair{NeighboringRelation::kAddOrRemoveOne, 1.0},
                                          std::pair{NeighboringRelation::kReplaceOne, 2.0},
                                          std::pair{NeighboringRelation::kReplaceSpecial, 1.0}}) {
      const absl::StatusOr<double> z = NoiseMultiplierThatFills(cap, steps, relation);
      ASSERT_TRUE(z.ok()) << z.status();
      double most = 0;
      for (const CellBalance& cell : cap.cells)
        most = std::max(most, StepsThatFit(cell, *z, shift));
      EXPECT_EQ(most, steps) << "one cell with room is enough";
    }
  }
}

TEST(NoiseMultiplierThatFills, AllCellsDecideWhereAllMustFit) {
  const CapCells cap = {.cells = {Renyi(4, 0.01), Renyi(16, 0.3)}, .all_cells_must_fit = true};
  const absl::StatusOr<double> z =
      NoiseMultiplierThatFills(cap, 100, NeighboringRelation::kAddOrRemoveOne);
  ASSERT_TRUE(z.ok()) << z.status();
  for (const CellBalance& cell : cap.cells) EXPECT_GE(StepsThatFit(cell, *z, 1), 100);
}

TEST(NoiseMultiplierThatFills, KnowsRhoAndMuSquared) {
  const auto relation = NeighboringRelation::kAddOrRemoveOne;
  EXPECT_NEAR(*NoiseMultiplierThatFills({.cells = {{.quantity = Quantity::kRho, .cap = 0.5}}}, 100,
                                        relation),
              10, 1e-7);
  EXPECT_NEAR(*NoiseMultiplierThatFills(
                  {.cells = {{.quantity = Quantity::kMuSquared, .cap = 0.25}}}, 100, relation),
              20, 1e-7);
}

TEST(NoiseMultiplierThatFills, DoesNotDependOnWhatIsSpent) {
  CapCells cap = {.cells = {Renyi(16, 0.3)}};
  const double fresh = *NoiseMultiplierThatFills(cap, 100, NeighboringRelation::kAddOrRemoveOne);
  cap.cells[0].spent = cap.cells[0].cap;
  EXPECT_EQ(*NoiseMultiplierThatFills(cap, 100, NeighboringRelation::kAddOrRemoveOne), fresh);
}

TEST(NoiseMultiplierThatFills, CapsWithoutAGaussianCostAreLeftToTheUser) {
  const auto relation = NeighboringRelation::kAddOrRemoveOne;
  const CellBalance epsilon = {.quantity = Quantity::kEpsilon, .cap = 1};
  EXPECT_FALSE(NoiseMultiplierThatFills({}, 100, relation).ok());
  EXPECT_FALSE(NoiseMultiplierThatFills({.cells = {epsilon}}, 100, relation).ok());
  EXPECT_FALSE(NoiseMultiplierThatFills(
                   {.cells = {epsilon, Renyi(16, 0.3)}, .all_cells_must_fit = true}, 100, relation)
                   .ok());
  EXPECT_TRUE(
      NoiseMultiplierThatFills({.cells = {Renyi(2, 0), Renyi(16, 0.3)}}, 100, relation).ok());
}

// So many steps of noise z fit where one costs 1 / z^2 of `left`.
ChargePreview StepsAt(double z, double left, int* previews) {
  ++*previews;
  return {.accepted = true, .steps_that_fit = static_cast<int64_t>(left * z * z)};
}

TEST(NoiseMultiplierThatFits, IsNearTheEdgeWhereverThatIs) {
  for (const double left : {1e-6, 0.01, 0.9, 1.0, 3.7, 100.0, 1e4}) {
    int previews = 0;
    const absl::StatusOr<double> z =
        NoiseMultiplierThatFits([&](double noise) { return StepsAt(noise, left, &previews); }, 100);
    ASSERT_TRUE(z.ok()) << z.status();
    int ignored = 0;
    EXPECT_GE(StepsAt(*z, left, &ignored).steps_that_fit, 100) << left;
    EXPECT_LT(StepsAt(*z / (1 + 5e-4), left, &ignored).steps_that_fit, 100) << left;
    EXPECT_LE(previews, 30) << left;
  }
}

TEST(NoiseMultiplierThatFits, EndsAtTheLeastAndTheMostNoise) {
  int previews = 0;
  EXPECT_EQ(
      *NoiseMultiplierThatFits([&](double noise) { return StepsAt(noise, 1e12, &previews); }, 1),
      std::exp2(-10));
  const absl::StatusOr<double> none =
      NoiseMultiplierThatFits([&](double noise) { return StepsAt(noise, 1e-15, &previews); }, 7);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NoiseMultiplierThatFits, StopsAtOnceWhereNoiseIsNotTheReason) {
  int previews = 0;
  const absl::StatusOr<double> frozen = NoiseMultiplierThatFits(
      [&](double) {
        ++previews;
        return ChargePreview{.refusal = RefusalDetails{.reason = RefusalReason::kBudgetFrozen}};
      },
      7);
  EXPECT_EQ(frozen.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(previews, 1);
  EXPECT_EQ(
      NoiseMultiplierThatFits(
          [](double) -> absl::StatusOr<ChargePreview> { return absl::UnavailableError("away"); }, 7)
          .status()
          .code(),
      absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace epsledger::trainers
