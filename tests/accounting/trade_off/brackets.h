#ifndef EPSLEDGER_TESTS_ACCOUNTING_TRADE_OFF_BRACKETS_H_
#define EPSLEDGER_TESTS_ACCOUNTING_TRADE_OFF_BRACKETS_H_

#include <string>

#include "accounting/numeric/bounds.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {

// Expects lower <= value <= upper, up to the rounding of a table's value to a double, and
// upper - lower <= width.
inline void ExpectBrackets(Bounds bounds, double value, double width, const std::string& what) {
  const double rounding = 4e-16 * value;
  EXPECT_LE(bounds.lower, value + rounding) << what;
  EXPECT_GE(bounds.upper, value - rounding) << what;
  EXPECT_LE(bounds.upper - bounds.lower, width) << what << " value " << value;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_TRADE_OFF_BRACKETS_H_
