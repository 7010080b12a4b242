#include "accounting/matrix/toeplitz.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Returns sum_t (c_t + c_{t-b} + c_{t-2b} + ...)^2, each with at most k terms: what the steps 0, b,
// ..., (k-1) b contribute together. Every number is the sum or product of at most steps + 2 k + 3
// rounded ones, all >= 0: windows of k terms are the end of one block of k and the start of the
// next, so that nothing is subtracted. REQUIRES: c_t >= 0, 1 <= k <= ceil(steps / b).
double EveryBthStep(const std::vector<double>& c, int64_t b, int64_t k) {
  const int64_t steps = static_cast<int64_t>(c.size());
  // from_start[t]: the sum of c at t, t - b, ... within the block of t; to_end[t]: at t, t + b, ...
  std::vector<double> from_start(c), to_end(c);
  int64_t in_block = 0;  // the place of t in its block, the same for the b steps from `first` on
  for (int64_t first = 0; first < steps; first += b, in_block = (in_block + 1) % k) {
    if (in_block == 0) continue;
    const int64_t end = std::min(first + b, steps);
    for (int64_t t = first; t < end; ++t) from_start[t] += from_start[t - b];
  }
  const int64_t last = (steps - 1) / b;
  in_block = last % k;
  for (int64_t index = last; index-- > 0;) {
    in_block = in_block == 0 ? k - 1 : in_block - 1;
    if (in_block == k - 1) continue;
    const int64_t end = std::min(index * b + b, steps - b);
    for (int64_t t = index * b; t < end; ++t) to_end[t] += to_end[t + b];
  }
  double total = 0;
  in_block = 0;
  for (int64_t first = 0; first < steps; first += b, in_block = (in_block + 1) % k) {
    const int64_t end = std::min(first + b, steps);
    const bool reaches_back = first >= k * b && in_block != k - 1;
    for (int64_t t = first; t < end; ++t) {
      const double window = from_start[t] + (reaches_back ? to_end[t - (k - 1) * b] : 0);
      total += window * window;
    }
  }
  return total;
}

}  // namespace

ToeplitzCoefficients GivenCoefficients(const std::vector<double>& coefficients, int64_t steps) {
  std::vector<double> c = coefficients;
  c.resize(static_cast<size_t>(steps), 0.0);
  return {c, c};
}

ToeplitzCoefficients BufferedCoefficients(const std::vector<double>& output_scales,
                                          const std::vector<double>& decays, int64_t steps) {
  ToeplitzCoefficients c{std::vector<double>(static_cast<size_t>(steps), 1.0), {}};
  c.upper = c.lower;
  std::vector<double> terms = output_scales;
  const bool zero = std::all_of(terms.begin(), terms.end(), [](double x) { return x == 0; });
  for (int64_t t = 1; t < steps; ++t) {
    double sum = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      sum += terms[i];
      terms[i] *= decays[i];
    }
    // t - 1 products and at most 16 additions for each of at most 16 terms. A product that
    // underflows is off by 2^-1075, and that error only shrinks in the products after it.
    const double operations = 16 * (static_cast<double>(t) + 16);
    c.lower[t] = RoundDownNonNegative(sum, operations);
    c.upper[t] = zero ? 0 : RoundUp(sum, operations);
  }
  return c;
}

ToeplitzCoefficients SquareRootCoefficients(int64_t bands, int64_t steps) {
  ToeplitzCoefficients c{std::vector<double>(static_cast<size_t>(steps), 0.0), {}};
  c.upper = c.lower;
  c.lower[0] = c.upper[0] = 1;
  double coefficient = 1;
  for (int64_t t = 1; t < std::min(bands, steps); ++t) {
    const double index = static_cast<double>(t);
    coefficient = coefficient * (2 * index - 1) / (2 * index);  // two roundings
    c.lower[t] = RoundDownNonNegative(coefficient, 2 * index);
    c.upper[t] = RoundUp(coefficient, 2 * index);
  }
  return c;
}

Bounds ToeplitzSquaredSensitivity(const ToeplitzCoefficients& coefficients,
                                  const Participation& participation) {
  const size_t steps = coefficients.upper.size();
  const int64_t most = participation.Most();
  const double operations = static_cast<double>(steps) + 4 * static_cast<double>(most) + 16;
  // The smallest sequence without increase that is at least |c_t|.
  std::vector<double> majorant(steps);
  std::vector<double> least(steps);  // at most |c_t|
  bool non_negative = true;
  double largest = 0;
  for (size_t t = steps; t-- > 0;) {
    const double lower = coefficients.lower[t], upper = coefficients.upper[t];
    largest = std::max({largest, std::abs(lower), std::abs(upper)});
    majorant[t] = largest;
    non_negative = non_negative && lower >= 0;
    least[t] = lower >= 0 ? lower : std::max(0.0, -upper);
  }
  if (largest == 0) return Bounds{0, 0};
  const int64_t separation = participation.min_separation;
  return Bounds{
      RoundDownNonNegative(EveryBthStep(least, separation, non_negative ? most : 1), operations),
      RoundUp(EveryBthStep(majorant, separation, most), operations)};
}

}  // namespace epsledger::accounting
