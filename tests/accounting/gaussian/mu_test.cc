#include "accounting/gaussian/mu.h"

#include <cmath>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

Bounds Mu(const MechanismEvent& event, double count, const Setting& setting = {}) {
  return *ComposeGaussianMu({Use{&event, count}}, setting);
}

TEST(ComposeGaussianMu, AddsSquares) {
  const MechanismEvent three = GaussianDp{3};
  const MechanismEvent four = GaussianDp{4};
  const Bounds mu = *ComposeGaussianMu({Use{&three, 1}, Use{&four, 1}}, {});
  EXPECT_LE(mu.lower, 5);
  EXPECT_GE(mu.upper, 5);
  EXPECT_LT(mu.upper - mu.lower, 1e-13);
  EXPECT_NEAR(Mu(MechanismEvent(Gaussian{2}), 100).upper, 5, 1e-13);
}

TEST(ComposeGaussianMu, DoublesTheShiftUnderReplaceOne) {
  const Setting replace{.relation = NeighboringRelation::kReplaceOne};
  EXPECT_NEAR(Mu(MechanismEvent(Gaussian{2}), 1, replace).upper, 1, 1e-14);
  const Setting stated{.relation = NeighboringRelation::kReplaceOne,
                       .sensitivity_relation = SensitivityRelation::kReplaceOne};
  EXPECT_NEAR(Mu(MechanismEvent(Gaussian{2}), 1, stated).upper, 0.5, 1e-14);
  const Setting special{.relation = NeighboringRelation::kReplaceSpecial};
  EXPECT_NEAR(Mu(MechanismEvent(Gaussian{2}), 1, special).upper, 0.5, 1e-14);
}

TEST(ComposeGaussianMu, NeitherOverflowsNorUnderflows) {
  EXPECT_NEAR(Mu(MechanismEvent(GaussianDp{1e200}), 4).upper / 2e200, 1, 1e-14);
  EXPECT_NEAR(Mu(MechanismEvent(GaussianDp{1e-200}), 4).upper / 2e-200, 1, 1e-14);
  EXPECT_EQ(Mu(MechanismEvent(GaussianDp{0}), 4).upper, 0);
  EXPECT_EQ(Mu(MechanismEvent(Gaussian{1e-320}), 1).upper, std::numeric_limits<double>::infinity());
}

TEST(ComposeGaussianMu, KnowsTheHeightOfATree) {
  EXPECT_EQ(TreeHeight(1), 1);
  EXPECT_EQ(TreeHeight(2), 2);
  EXPECT_EQ(TreeHeight(7), 3);  // ceil(log2(8))
  EXPECT_EQ(TreeHeight(8), 4);  // ceil(log2(9))
  EXPECT_EQ(TreeHeight(int64_t{1} << 53), 54);
  EXPECT_NEAR(Mu(MechanismEvent(TreeAggregation{2, 8}), 1).upper, 1, 1e-14);
}

TEST(ComposeGaussianMu, RefusesWhatIsNotGaussian) {
  const MechanismEvent laplace = Laplace{1};
  const absl::Status status = ComposeGaussianMu({Use{&laplace, 1}}, {}).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_EQ(status.message(),
            "the GAUSSIAN accountant does not know laplace yet: only Gaussian releases and "
            "declared mu-GDP compose exactly as mu-GDP");
}

}  // namespace
}  // namespace epsledger::accounting
