#include "client/trainers/run/noise_choice.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

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

}  // namespace
}  // namespace epsledger::trainers
