#include "server/core/balance.h"

#include "gtest/gtest.h"

namespace epsledger::core {
namespace {

using accounting::CellQuantity;
using accounting::FilterRule;

std::vector<Cost> Units(std::initializer_list<uint64_t> units) {
  std::vector<Cost> costs;
  for (uint64_t u : units) costs.push_back(Cost::FromUnits(u));
  return costs;
}

Balance MakeBalance(FilterRule rule, std::initializer_list<uint64_t> caps) {
  CellFilter filter{.rule = rule};
  for (Cost cap : Units(caps)) {
    filter.cells.push_back({.quantity = CellQuantity::kRenyi, .order = 2, .cap = cap});
  }
  return Balance(filter);
}

TEST(Balance, AllCellsMustFit) {
  Balance balance = MakeBalance(FilterRule::kAllCells, {10, 100});
  EXPECT_TRUE(balance.Fits(Units({10, 100})));
  EXPECT_FALSE(balance.Fits(Units({11, 1})));
  EXPECT_FALSE(balance.Fits(Units({1, 101})));
  EXPECT_FALSE(balance.Fits({Cost::FromUnits(1), Cost::Infinite()}));
  balance.Add(Units({4, 1}));
  EXPECT_EQ(balance.HowManyFit(Units({3, 1}), 1000), 2);
  EXPECT_EQ(balance.HowManyFit(Units({0, 33}), 1000), 3);
}

TEST(Balance, OneCellOfAnyIsEnoughAndEveryCellCounts) {
  Balance balance = MakeBalance(FilterRule::kAnyCell, {10, 100});
  EXPECT_TRUE(balance.Fits(Units({11, 100})));
  EXPECT_FALSE(balance.Fits(Units({11, 101})));
  EXPECT_TRUE(balance.Fits({Cost::Infinite(), Cost::FromUnits(100)}));
  balance.Add(Units({50, 60}));
  EXPECT_EQ(balance.spent(), Units({50, 60}));
  EXPECT_FALSE(balance.Fits(Units({0, 41})));
  // The first cell is overspent: it never has room again, not even for a free charge.
  EXPECT_EQ(balance.HowManyFit(Units({0, 20}), 1000), 2);
}

TEST(Balance, WithoutCellsNothingFits) {
  EXPECT_FALSE(MakeBalance(FilterRule::kAllCells, {}).Fits({}));
  EXPECT_FALSE(MakeBalance(FilterRule::kAnyCell, {}).Fits({}));
  EXPECT_EQ(MakeBalance(FilterRule::kAllCells, {}).HowManyFit({}, 10), 0);
}

TEST(Balance, CopiesDecideWithoutTouchingTheOriginal) {
  const Balance original = MakeBalance(FilterRule::kAllCells, {10});
  Balance copy = original;
  copy.Add(Units({7}));
  EXPECT_TRUE(original.Fits(Units({10})));
  EXPECT_FALSE(copy.Fits(Units({4})));
}

TEST(Balance, NamesTheCellThatDecides) {
  EXPECT_EQ(MakeBalance(FilterRule::kAllCells, {10, 100}).LimitingCell(Units({11, 500})), 1u);
  EXPECT_EQ(MakeBalance(FilterRule::kAnyCell, {10, 100}).LimitingCell(Units({11, 500})), 0u);
  // A cell without room that is asked for nothing does not decide.
  EXPECT_EQ(MakeBalance(FilterRule::kAllCells, {0, 100}).LimitingCell(Units({0, 500})), 1u);
}

TEST(CellFilter, RoundsCapsDown) {
  accounting::Filter filter;
  filter.cells = {{.quantity = CellQuantity::kEpsilon, .order = 0, .cap = 0.1}};
  // floor(0.1 * 2^64) with 0.1 the nearest double: exact in integers of 2^-64 up to its last bits.
  EXPECT_EQ(CellFilter::From(filter).cells[0].cap, Cost::RoundDown(0.1));
  EXPECT_LE(CellFilter::From(filter).cells[0].cap.ToDoubleDown(), 0.1);
}

}  // namespace
}  // namespace epsledger::core
