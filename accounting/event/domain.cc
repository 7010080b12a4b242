#include "accounting/event/domain.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace epsledger::accounting {

bool Interval::Contains(double x) const {
  const bool above = lower_closed ? x >= lower : x > lower;
  const bool below = upper_closed ? x <= upper : x < upper;
  return above && below;  // both comparisons are false for NaN
}

std::string Interval::ToString() const {
  const auto end = [](double x) {
    if (std::isinf(x)) return std::string(x > 0 ? "inf" : "-inf");
    return FormatDouble(x);
  };
  return absl::StrCat(lower_closed ? "[" : "(", end(lower), ", ", end(upper),
                      upper_closed ? "]" : ")");
}

std::string FormatDouble(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}

absl::Status OutOfDomain(const std::string& field, const std::string& got,
                         const std::string& want) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": got ", got, ", want ", want));
}

absl::Status CheckInterval(const std::string& field, double x, const Interval& domain) {
  if (domain.Contains(x)) return absl::OkStatus();
  return OutOfDomain(field, FormatDouble(x), absl::StrCat("in ", domain.ToString()));
}

absl::Status CheckRange(const std::string& field, int64_t x, int64_t lower, int64_t upper) {
  if (x >= lower && x <= upper) return absl::OkStatus();
  return OutOfDomain(field, absl::StrCat(x), absl::StrCat("in [", lower, ", ", upper, "]"));
}

}  // namespace epsledger::accounting
