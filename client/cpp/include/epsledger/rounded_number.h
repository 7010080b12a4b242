#ifndef EPSLEDGER_ROUNDED_NUMBER_H_
#define EPSLEDGER_ROUNDED_NUMBER_H_

#include <string>

namespace epsledger {

// The direction in which a shown number may err. Spent budget and epsilon are rounded up, caps and
// what remains are rounded down, so that nothing on the screen is better than the truth.
enum class Rounding { kUp, kDown };

inline constexpr int kUsualDigits = 6;

// Returns `value` with at most `digits` significant decimal digits and without trailing zeros,
// rounded in the given direction: read back as a double, the result is >= value for kUp and <=
// value for kDown. "inf", "-inf" and "nan" as such. REQUIRES: digits in [1, 17].
std::string RoundedNumber(double value, Rounding rounding, int digits = kUsualDigits);

// Returns the fewest digits, at least kUsualDigits, with which `spent` rounded up is not above
// `cap` rounded down, so that a cap that is nearly used up does not look overspent. Returns
// kUsualDigits if the cap is overspent, or if either is NaN.
int DigitsForSpent(double spent, double cap);

// Returns the shortest decimal that reads back as exactly `value`.
std::string ExactNumber(double value);

}  // namespace epsledger

#endif  // EPSLEDGER_ROUNDED_NUMBER_H_
