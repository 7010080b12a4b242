#include "accounting/renyi/group.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

double GroupRenyi(absl::FunctionRef<double(double)> divergence, double order, double group_size) {
  if (!(group_size > 1)) return divergence(order);
  const double k = group_size;
  const double top = k * order;
  if (!std::isfinite(top)) return kInfinity;
  // The orders k a - j are rounded up (the curve does not decrease) and their factors too.
  const double highest = RoundUp(top);
  double sum = 0;
  const auto add = [&](double factor, double at) {
    const double d = divergence(at);
    if (d != 0) sum = RoundUp(sum + RoundUp(factor * d, 8));
  };
  if (k <= kLargestExactGroup) {
    for (double j = 0; j < k; ++j) {
      const double at = RoundUp(highest - j);
      // k a / (k a - j) = 1 + j / (k a - j), and k a - j >= 1 + k (a - 1) is known to an ulp of
      // k a: its relative error is at most that of k a times k.
      const double below = RoundDown(RoundDown(top) - j);
      if (!(below > 0)) return kInfinity;
      add(1 + j / below, at);
    }
    return sum;
  }
  // sum_{j=m}^{n-1} ka/(ka - j) <= ka int_{ka-n}^{ka-m} dx/x = ka log((ka-m)/(ka-n)); the last
  // block ends at ka - k = k (a - 1) > 0. Blocks shrink towards it, where the factors grow.
  const double rest = RoundDown(k * RoundDown(order - 1), 2);
  if (!(rest > 0)) return kInfinity;
  double from = 0;
  for (int block = 0; block < kLargestExactGroup && from < k; ++block) {
    const double to = block + 1 == kLargestExactGroup
                          ? k
                          : std::min(k, std::floor(from + std::ceil((k - from) / 16)));
    const double low = rest + (k - to);  // ka - to
    const double factor = top * std::log1p((to - from) / low);
    add(RoundUp(factor, 16), RoundUp(highest - from));
    from = to;
  }
  return sum;
}

double GroupConstantFactor(double group_size) {
  double harmonic = 0;
  if (group_size <= 1e4) {
    for (double j = group_size; j >= 1; --j) harmonic = RoundUp(harmonic + 1 / j, 1);
  } else {
    // H_k < log k + gamma + 1/(2k).
    harmonic = std::log(group_size) + 0.57721566490153287 + 0.5 / group_size;
  }
  return RoundUp(group_size * harmonic, 8);
}

}  // namespace epsledger::accounting
