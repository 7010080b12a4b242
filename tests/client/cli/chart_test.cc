#include "client/cli/print/chart.h"

#include "gtest/gtest.h"

#include <limits>
#include <string>

namespace epsledger::cli {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Bar, IsNeverEmptierThanTheTruth) {
  EXPECT_EQ(Bar(0, 0, false), "....................");
  EXPECT_EQ(Bar(1e-12, 0, false), "#...................");
  EXPECT_EQ(Bar(0.5, 0, false), "##########..........");
  EXPECT_EQ(Bar(0.5000001, 0, false), "###########.........");
  EXPECT_EQ(Bar(0.9500001, 0, false), "####################");
  for (const double full : {1.0, 1.5, kInf, kNan}) {
    EXPECT_EQ(Bar(full, 0, false), "####################") << full;
  }
}

TEST(Bar, DrawsOpenLeasesAsPartOfWhatIsSpent) {
  EXPECT_EQ(Bar(0.5, 0.1, false), "########==..........");
  EXPECT_EQ(Bar(0.1, 0.1, false), "==..................");
  EXPECT_EQ(Bar(0.1, 0.9, false), "==..................") << "never more than is spent";
  EXPECT_EQ(Bar(0.5, 0.1, true), "████████▓▓░░░░░░░░░░");
}

TEST(Sparkline, HasACharacterForEachValue) {
  EXPECT_EQ(Sparkline({}, 1, true), "");
  EXPECT_EQ(Sparkline({0, 1, 2, 3, 4, 5, 6, 7, 8}, 8, true), "▁▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline({0, 1, 2, 3, 4, 5, 6, 7, 8}, 8, false), "__.:-=+*#");
}

TEST(Sparkline, RoundsUpAndShowsWhatHasNoNumberInFull) {
  EXPECT_EQ(Sparkline({0.1251, kInf, kNan, 9}, 1, false), ".###");
}

}  // namespace
}  // namespace epsledger::cli
