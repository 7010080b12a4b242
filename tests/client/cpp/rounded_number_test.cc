#include "epsledger/rounded_number.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace epsledger {
namespace {

TEST(RoundedNumber, Table) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Case {
    double value;
    const char* up;
    const char* down;
  };
  const Case cases[] = {
      {0, "0", "0"},
      {-0.0, "0", "0"},
      {1, "1", "1"},
      {100, "100", "100"},
      {1.0 / 3, "0.333334", "0.333333"},
      {2.0 / 3, "0.666667", "0.666666"},
      {-1.0 / 3, "-0.333333", "-0.333334"},
      {0.9999999, "1", "0.999999"},
      {9.9999999, "10", "9.99999"},
      {1.0000001, "1.00001", "1"},
      {123456.7, "123457", "123456"},
      {999999.5, "1e6", "999999"},
      {1234567, "1.23457e6", "1.23456e6"},
      {1e-5, "0.00001", "0.00001"},
      {1e-6, "1e-6", "1e-6"},
      {1.2345678e-7, "1.23457e-7", "1.23456e-7"},
      {1.0000001e-5, "0.0000100001", "0.00001"},
      {5e-324, "4.94066e-324", "4.94066e-324"},
      {kInfinity, "inf", "inf"},
      {-kInfinity, "-inf", "-inf"},
  };
  for (const Case& row : cases) {
    EXPECT_EQ(RoundedNumber(row.value, Rounding::kUp), row.up) << row.value;
    EXPECT_EQ(RoundedNumber(row.value, Rounding::kDown), row.down) << row.value;
  }
  EXPECT_EQ(RoundedNumber(std::nan(""), Rounding::kUp), "nan");
}

TEST(DigitsForSpent, ShowACapThatIsNearlyUsedUpAsSuch) {
  const double cap = 0.60227130555572839;
  const double spent = cap * (1 - 2e-9);
  EXPECT_EQ(DigitsForSpent(0.1, 0.2), kUsualDigits);
  const int digits = DigitsForSpent(spent, cap);
  EXPECT_EQ(RoundedNumber(spent, Rounding::kUp, digits), "0.602271305");
  EXPECT_EQ(RoundedNumber(cap, Rounding::kDown, digits), "0.602271305");
  EXPECT_EQ(DigitsForSpent(0.3, 0.2), kUsualDigits) << "overspent looks overspent";
  EXPECT_EQ(DigitsForSpent(std::nan(""), 0.2), kUsualDigits);
  const int exact = DigitsForSpent(cap, cap);
  EXPECT_EQ(RoundedNumber(cap, Rounding::kUp, exact), RoundedNumber(cap, Rounding::kDown, exact));
}

RC_GTEST_PROP(RoundedNumber, ErrsInItsDirectionOnly, (unsigned long long bits)) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  RC_PRE(std::isfinite(value) && std::abs(value) < 1e300);
  RC_ASSERT(std::strtod(RoundedNumber(value, Rounding::kUp).c_str(), nullptr) >= value);
  RC_ASSERT(std::strtod(RoundedNumber(value, Rounding::kDown).c_str(), nullptr) <= value);
  RC_ASSERT(std::strtod(RoundedNumber(value, Rounding::kUp, 17).c_str(), nullptr) >= value);
  RC_ASSERT(std::strtod(RoundedNumber(value, Rounding::kDown, 2).c_str(), nullptr) <= value);
  RC_ASSERT(std::strtod(ExactNumber(value).c_str(), nullptr) == value);
}

}  // namespace
}  // namespace epsledger
