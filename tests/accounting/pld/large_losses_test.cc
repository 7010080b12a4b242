// Losses beyond 709, where e^loss is no double any more.

#include <vector>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

// The loss of a Laplace release at distance a is a with probability 1/2, and has the density
// e^{(l - a) / 2} / 4 below. The values are the integral of 1 - e^{epsilon - l} over the sum of two
// such losses beyond epsilon, in closed form with 60 digits.
struct TwoLaplaceRow {
  double noise_multiplier;
  double epsilon;
  double delta;
};
constexpr TwoLaplaceRow kTwoLaplaceRows[] = {
    {1e-3, 1999, 0.241836675359198751},
    {1e-4, 19999, 0.241836675358990225},
    {1e-7, 19999998, 0.448180838409308911},
};

TEST(LargeLosses, OfTwoLaplaceReleasesAreBracketed) {
  for (const TwoLaplaceRow& row : kTwoLaplaceRows) {
    SCOPED_TRACE(row.noise_multiplier);
    const std::vector<CountedEvent> events = {{MechanismEvent(Laplace{row.noise_multiplier}), 2}};
    const auto delta = Answer(Ask(Accountant::kPld, events, DeltaAtEpsilon{row.epsilon}));
    ASSERT_TRUE(delta.ok()) << delta.status();
    EXPECT_LE(*delta->lower, row.delta * (1 + 1e-9));
    EXPECT_GE(*delta->upper, row.delta * (1 - 1e-9));
    // The losses are 2 a - L1 - L2 below the largest, so that delta 0.3 is 1.2617 below it.
    const auto epsilon = Answer(Ask(Accountant::kPld, events, EpsilonAtDelta::FromDelta(0.3)));
    ASSERT_TRUE(epsilon.ok()) << epsilon.status();
    const double largest = 2 / row.noise_multiplier;
    EXPECT_LE(*epsilon->lower, largest - 1.26165080195848 + 1e-9 * largest);
    EXPECT_GE(*epsilon->upper, largest - 1.26165080195849 - 1e-9 * largest);
  }
}

TEST(LargeLosses, OfTwoLaplaceReleasesAreNarrowBelowAThousandOfThem) {
  const auto delta =
      Answer(Ask(Accountant::kPld, {{MechanismEvent(Laplace{1e-3}), 2}}, DeltaAtEpsilon{1999}));
  ASSERT_TRUE(delta.ok()) << delta.status();
  EXPECT_LE(*delta->upper - *delta->lower, 3e-4);
}

// Two Gaussian releases of mu 100 and one bit that tells with odds e^0.1 in which data set the
// record is: p delta(epsilon - 0.1) + (1 - p) delta(epsilon + 0.1) of one Gaussian release.
TEST(LargeLosses, OfGaussianReleasesWithLittleNoiseAreBracketed) {
  constexpr double kDelta = 0.497193286105299082;
  const auto delta = Answer(Ask(
      Accountant::kPld, {{MechanismEvent(GaussianDp{100}), 2}, {MechanismEvent(PureDp{0.1}), 1}},
      DeltaAtEpsilon{10000}));
  ASSERT_TRUE(delta.ok()) << delta.status();
  EXPECT_LE(*delta->lower, kDelta * (1 + 1e-9));
  EXPECT_GE(*delta->upper, kDelta * (1 - 1e-9));
}

}  // namespace
}  // namespace epsledger::accounting
