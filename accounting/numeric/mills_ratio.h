#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_MILLS_RATIO_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_MILLS_RATIO_H_

// The Mills ratio R(x) = (1 - Phi(x)) / phi(x) and its differences, from a table of Taylor
// expansions. accounting/gaussian/README.md, "The Mills ratio from a table".

namespace epsledger::accounting {

// Relative error of MillsRatio, with the argument taken as exact.
inline constexpr double kMillsRelativeError = 0x1p-51;  // 2 ulp; 1.6e-16 measured

// R(x + low) for x >= -1 and |low| <= 1e-10, decreasing from 3.4769 to 0 at +inf. Relative error at
// most kMillsRelativeError where x <= 2^1022. `low` carries the rounding error of x. NaN gives NaN.
// For x < -1 the answer is sqrt(2 pi) e^{x^2/2} - R(-x) with its rounding; no bound is stated.
// Cost: 10 ns.
double MillsRatio(double x, double low);

// middle + middle_low and middle + middle_low -+ width/2, each as the rounded value and the
// remainder; left_low and right_low hold the remainder to 2^-100.
struct MillsArguments {
  double middle;
  double middle_low;
  double left;
  double left_low;
  double right;
  double right_low;
  double width;
};

// |difference - truth| <= difference_error; the two ratios have relative error at most
// kMillsRelativeError.
struct MillsDifference {
  double difference;  // R(left) - R(right) > 0
  double difference_error;
  double left;   // R(left)
  double right;  // R(right)
};

// Returns the difference of two Mills ratios to a few ulp *of the difference*, however small the
// width. REQUIRES: 0 <= middle <= 1e5, |middle_low| <= 2^-53 middle, 1e-100 <= width <= 1e5, -1 <=
// left <= 63.
// Relative error of the difference: 2^-50 for width <= 1/16 and from 1/2 on, 2^-48 between, while
// middle <= 8; 2^-47 further out. Cost: 20 to 30 ns.
MillsDifference MillsRatioDifference(const MillsArguments& at);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_MILLS_RATIO_H_
