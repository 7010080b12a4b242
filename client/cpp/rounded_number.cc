#include "epsledger/rounded_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"

namespace epsledger {
namespace {

constexpr int kMostDigits = 17;  // enough to distinguish any two doubles

// Returns number * 10^(exponent - digits + 1), as %g would print it.
std::string Print(int64_t number, int exponent, int digits) {
  const std::string mantissa = absl::StrFormat("%0*d", digits, number);
  const bool scientific = exponent < -5 || exponent >= std::max(digits, kUsualDigits);
  std::string result;
  if (scientific) {
    result = mantissa.substr(0, 1) + "." + mantissa.substr(1);
  } else if (exponent < 0) {
    result = "0." + std::string(-exponent - 1, '0') + mantissa;
  } else if (exponent + 1 >= digits) {
    return mantissa + std::string(exponent + 1 - digits, '0');
  } else {
    result = mantissa.substr(0, exponent + 1) + "." + mantissa.substr(exponent + 1);
  }
  result.erase(result.find_last_not_of('0') + 1);
  if (result.back() == '.') result.pop_back();
  if (scientific) result += absl::StrFormat("e%d", exponent);
  return result;
}

}  // namespace

std::string RoundedNumber(double value, Rounding rounding, int digits) {
  if (!std::isfinite(value) || value == 0) return absl::StrFormat("%g", value == 0 ? 0 : value);
  if (value < 0) {
    const Rounding other = rounding == Rounding::kUp ? Rounding::kDown : Rounding::kUp;
    return "-" + RoundedNumber(-value, other, digits);
  }
  // "d.ddddde[+-]xx", rounded to nearest; moved by one unit in the last place if that is the wrong
  // direction.
  const std::string nearest = absl::StrFormat("%.*e", digits - 1, value);
  const size_t e = nearest.find('e');
  std::string mantissa = nearest.substr(0, e);
  mantissa.erase(std::remove(mantissa.begin(), mantissa.end(), '.'), mantissa.end());
  int64_t number = std::strtoll(mantissa.c_str(), nullptr, 10);
  int exponent = std::atoi(nearest.c_str() + e + 1);
  int64_t limit = 1;
  for (int i = 0; i < digits; ++i) limit *= 10;
  const double back = std::strtod(nearest.c_str(), nullptr);
  if (rounding == Rounding::kUp && back < value) {
    if (++number == limit) {
      number = limit / 10;
      ++exponent;
    }
  } else if (rounding == Rounding::kDown && back > value) {
    if (--number < limit / 10) {
      number = limit - 1;
      --exponent;
    }
  }
  return Print(number, exponent, digits);
}

int DigitsForSpent(double spent, double cap) {
  if (!(spent <= cap)) return kUsualDigits;
  for (int digits = kUsualDigits; digits < kMostDigits; ++digits) {
    const double shown_spent =
        std::strtod(RoundedNumber(spent, Rounding::kUp, digits).c_str(), nullptr);
    const double shown_cap =
        std::strtod(RoundedNumber(cap, Rounding::kDown, digits).c_str(), nullptr);
    if (shown_spent <= shown_cap) return digits;
  }
  return kMostDigits;
}

std::string ExactNumber(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

}  // namespace epsledger
