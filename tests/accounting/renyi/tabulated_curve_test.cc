#include "accounting/renyi/tabulated_curve.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

TEST(TabulatedRenyiCurve, KeepsItsRowsAndKnowsNothingBeyondThem) {
  const TabulatedRenyiCurve curve(RenyiCurve{{2, 4, 8}, {1, 2, 4}});
  EXPECT_NEAR(curve.Divergence(2), 1, 1e-14);
  EXPECT_NEAR(curve.Divergence(8), 4, 1e-14);
  EXPECT_EQ(curve.Divergence(8.001), kInfinity);
}

TEST(TabulatedRenyiCurve, LowersARowToWhatLaterRowsProve) {
  const TabulatedRenyiCurve curve(RenyiCurve{{2, 4}, {5, 1}});
  EXPECT_NEAR(curve.Divergence(2), 1.0 / 3 * 3, 1e-12);
  EXPECT_LE(curve.Divergence(2), 1 + 1e-12);
}

TEST(TabulatedRenyiCurve, BoundsARealCurveBetweenAndBelowItsOrders) {
  const SampledGaussian mechanism{0.01, 0.9};
  RenyiCurve rows;
  for (const double order : {1.5, 2.0, 3.0, 5.0, 6.0, 12.0, 40.0}) {
    rows.orders.push_back(order);
    rows.divergences.push_back(SampledGaussianRemoveRenyi(mechanism, order));
  }
  const TabulatedRenyiCurve curve(rows);
  for (double order = 1.01; order < 40; order *= 1.03) {
    EXPECT_GE(curve.Divergence(order), SampledGaussianRemoveRenyi(mechanism, order) * (1 - 1e-10))
        << order;
  }
  // Tighter than monotonicity alone, which would say D_6 at 5.5.
  EXPECT_LT(curve.Divergence(5.5), rows.divergences[4]);
}

}  // namespace
}  // namespace epsledger::accounting
