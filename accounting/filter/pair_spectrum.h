#ifndef EPSLEDGER_ACCOUNTING_FILTER_PAIR_SPECTRUM_H_
#define EPSLEDGER_ACCOUNTING_FILTER_PAIR_SPECTRUM_H_

// The tools that compute references and prices: the characteristic functions of a pair's two laws
// in extended precision, their powers, and bounds on what a finite window of losses leaves out.
// Every error is stated.

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "accounting/filter/loss_pair.h"
#include "accounting/pld/fft.h"

namespace epsledger::accounting {

using ExtendedComplex = std::complex<long double>;

inline constexpr long double kExtendedUnit = std::numeric_limits<long double>::epsilon() / 2;
// |fl(ab) - ab| <= sqrt(5) u |ab| ([BPZ07] Thm 1).
inline constexpr long double kExtendedProductError = 2.24L * kExtendedUnit;

// The smallest and largest size of a transform.
inline constexpr size_t kSmallestTransform = size_t{1} << 12;
inline constexpr size_t kLargestTransform = size_t{1} << 18;
// The tail that a lattice cuts off on the far side, as a share of delta.
inline constexpr double kTailShare = 1e-12;

ExtendedComplex Product(ExtendedComplex a, ExtendedComplex b);
double Magnitude(ExtendedComplex a);
// base^exponent by squaring. exponent >= 0.
ExtendedComplex Power(ExtendedComplex base, int64_t exponent);
// An upper bound on |Power(x, n) - true_x^n| where |x| is `magnitude` and x is off by at most
// `error`, which is at most 1e-6.
double PowerError(double magnitude, double error, int64_t n);

// The masses of a pair under one of its laws, by increasing loss of that law's order: under Q the
// losses are negated.
struct Direction {
  int64_t first = 0;
  std::vector<long double> masses;
};
// P, then Q.
std::array<Direction, 2> DirectionsOf(const LossPair& pair);

// Returns log of the sum of masses e^{order loss}, rounded up by far more than its error.
double LogMomentOf(const Direction& direction, double interval, double order);

// The orders at which tails are bounded. They are whole numbers so that both laws share their
// moments.
inline constexpr std::array<int, 10> kTailOrders = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89};

// The moments of one pair under both laws, at plus and minus the tail orders.
struct TailMoments {
  // [law][0: above, 1: below][order]
  std::array<std::array<std::array<double, kTailOrders.size()>, 2>, 2> log_moment;
};
TailMoments TailMomentsOf(const std::array<Direction, 2>& directions, double interval);

// A sequence of uses: pairs with their counts.
using CountedMoments = std::vector<std::pair<const TailMoments*, double>>;

// An upper bound on the mass with a finite sum of losses beyond `window` on either side, under the
// law, by Chernoff's inequality.
double MassBeyond(const CountedMoments& uses, size_t law, double window);

// The characteristic functions of both laws of a pair on the frequencies of the transform. Only the
// first half is kept because the masses are real. Both are within `error` everywhere.
struct Spectrum {
  std::array<std::vector<ExtendedComplex>, 2> at;
  double error = 0;
};
Spectrum SpectrumOf(const std::array<Direction, 2>& directions,
                    const ExtendedFourierTransform& transform);

// Returns the largest n in [0, limit] with fits(n), where fits changes from true to false once;
// with fewer `bits`, a smaller n that fits too. Tries `near` first.
template <class Fits>
int64_t LargestThat(int64_t limit, int64_t near, const Fits& fits, int bits = 62) {
  int64_t good = 0;
  int64_t bad = limit + 1;
  int64_t step = std::max<int64_t>(1, near / 64);
  int64_t at = std::clamp<int64_t>(near, 1, limit);
  while (bad - good > 1 + (good >> bits)) {
    (fits(at) ? good : bad) = at;
    if (good == at && bad == limit + 1) {
      at = std::min(limit, at + step);
    } else if (bad == at && good == 0) {
      at = std::max<int64_t>(1, at - step);
    } else {
      at = good + (bad - good) / 2;
      continue;
    }
    step *= 2;
    if (at <= good || at >= bad) at = good + (bad - good) / 2;
  }
  return good;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_FILTER_PAIR_SPECTRUM_H_
