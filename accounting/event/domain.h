#ifndef EPSLEDGER_ACCOUNTING_EVENT_DOMAIN_H_
#define EPSLEDGER_ACCOUNTING_EVENT_DOMAIN_H_

// Checks of single numbers; all messages have one form: "query.epsilonAtDelta: got 1.5, want in [0,
// 1]". A NaN is in no domain.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "accounting/numeric/constants.h"

namespace epsledger::accounting {

// An interval of doubles with open or closed ends.
struct Interval {
  double lower;
  double upper;
  bool lower_closed;
  bool upper_closed;

  bool Contains(double x) const;
  // "(0, 1]", "[0, inf)".
  std::string ToString() const;
};

inline constexpr Interval kPositive{0, kInfinity, false, false};         // (0, inf)
inline constexpr Interval kNonNegative{0, kInfinity, true, false};       // [0, inf)
inline constexpr Interval kProbability{0, 1, true, true};                // [0, 1]
inline constexpr Interval kPositiveProbability{0, 1, false, true};       // (0, 1]
inline constexpr Interval kOpenProbability{0, 1, false, false};          // (0, 1)
inline constexpr Interval kShareBelowOne{0, 1, true, false};             // [0, 1)
inline constexpr Interval kRenyiOrder{1, kInfinity, false, false};       // (1, inf)
inline constexpr Interval kFinite{-kInfinity, kInfinity, false, false};  // (-inf, inf)

// Returns the fewest digits that read back as the same double; "NaN", "Infinity", "-Infinity".
std::string FormatDouble(double x);

// INVALID_ARGUMENT "<field>: got <got>, want <want>".
absl::Status OutOfDomain(const std::string& field, const std::string& got, const std::string& want);
// OK if x is in the interval.
absl::Status CheckInterval(const std::string& field, double x, const Interval& domain);
// OK if lower <= x <= upper.
absl::Status CheckRange(const std::string& field, int64_t x, int64_t lower, int64_t upper);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_DOMAIN_H_
