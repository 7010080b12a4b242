#include "accounting/matrix/gram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// A square table of numbers >= 0 that is looked at in either order of the steps.
class Magnitudes {
 public:
  Magnitudes(const std::vector<Bounds>& gram, size_t steps, bool reversed)
      : steps_(steps), values_(gram.size()) {
    for (size_t i = 0; i < gram.size(); ++i) {
      const size_t at = reversed ? gram.size() - 1 - i : i;
      values_[i] = std::max(std::abs(gram[at].lower), std::abs(gram[at].upper));
    }
  }
  size_t steps() const { return steps_; }
  double operator()(size_t i, size_t j) const { return values_[i * steps_ + j]; }

 private:
  size_t steps_;
  std::vector<double> values_;
};

// The first step of which a set ends early enough for step i to be added, plus one.
size_t Before(size_t i, size_t separation) { return i + 1 > separation ? i + 1 - separation : 0; }

// best[c] for c = 0 to `most`: the largest sum of 2 y(i, j) over sets of at most c steps j that may
// be followed by i.
std::vector<double> LargestEarlier(const Magnitudes& y, size_t i, size_t separation, size_t most) {
  const size_t end = Before(i, separation);
  const size_t width = most + 1;
  std::vector<double> best((end + 1) * width, 0.0);
  for (size_t j = 0; j < end; ++j) {
    const double* const taken = &best[Before(j, separation) * width];
    const double* const left = &best[j * width];
    double* const now = &best[(j + 1) * width];
    const double gain = 2 * y(i, j);
    for (size_t c = 1; c <= most; ++c) now[c] = std::max(left[c], gain + taken[c - 1]);
  }
  return {best.end() - static_cast<std::ptrdiff_t>(width), best.end()};
}

struct Found {
  double value;
  std::vector<size_t> steps;  // decreasing
};

// The largest sum over sets of y(i, i) + LargestEarlier, where each i knows how many come before it
// and chooses them by itself: never less than the largest sum of y over one set. Rounded to
// nearest, at most 3 most + 3 roundings of sums of numbers >= 0 one after another.
Found LookBack(const Magnitudes& y, size_t separation, size_t most) {
  const size_t width = most + 1;
  std::vector<double> best((y.steps() + 1) * width, 0.0);
  for (size_t i = 0; i < y.steps(); ++i) {
    const std::vector<double> earlier = LargestEarlier(y, i, separation, most - 1);
    const double* const before = &best[Before(i, separation) * width];
    const double* const left = &best[i * width];
    double* const now = &best[(i + 1) * width];
    for (size_t c = 1; c <= most; ++c) {
      now[c] = std::max(left[c], y(i, i) + earlier[c - 1] + before[c - 1]);
    }
  }
  Found found{best.back(), {}};
  size_t count = most;
  for (size_t end = y.steps(); end > 0 && count > 0;) {
    if (best[end * width + count] == best[(end - 1) * width + count]) {
      --end;
      continue;
    }
    found.steps.push_back(end - 1);
    end = Before(end - 1, separation);
    --count;
  }
  return found;
}

// At most the square of the change that one contribution, with a sign in each of these steps,
// makes. Each sign is chosen so that the sum grows.
double AttainedBySigns(const std::vector<Bounds>& gram, size_t steps,
                       const std::vector<size_t>& set) {
  std::vector<bool> negative(steps, false);
  double total = 0;
  for (const size_t i : set) {
    double as_it_is = 0, turned = 0;  // what i adds together with the steps before it
    for (const size_t j : set) {
      if (j == i) break;
      const Bounds& x = gram[i * steps + j];
      as_it_is = NextDown(as_it_is + 2 * (negative[j] ? -x.upper : x.lower));
      turned = NextDown(turned + 2 * (negative[j] ? x.lower : -x.upper));
    }
    negative[i] = turned > as_it_is;
    total = NextDown(NextDown(total + std::max(as_it_is, turned)) + gram[i * steps + i].lower);
  }
  return total;
}

}  // namespace

std::vector<Bounds> GramMatrix(const std::vector<double>& entries, int64_t columns) {
  const size_t width = static_cast<size_t>(columns);
  const size_t rows = entries.size() / width;
  std::vector<Bounds> gram(width * width, Bounds{0, 0});
  const double operations = static_cast<double>(rows) + 1;
  for (size_t i = 0; i < width; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = 0, magnitude = 0;
      bool zero = true;
      for (size_t r = 0; r < rows; ++r) {
        const double a = entries[r * width + i], b = entries[r * width + j];
        zero = zero && (a == 0 || b == 0);
        sum += a * b;
        magnitude += std::abs(a * b);
      }
      if (zero) continue;
      // [Higham02] Sec 3.1: |error| <= rows u / (1 - rows u) times the sum of magnitudes, and
      // 2^-1075 for each product that underflows.
      const double error = RoundUp(magnitude * (2 * kUnitRoundoff * operations), operations + 2) +
                           operations * std::numeric_limits<double>::denorm_min();
      gram[i * width + j] = gram[j * width + i] = {NextDown(sum - error), NextUp(sum + error)};
    }
  }
  return gram;
}

Bounds GramSquaredSensitivity(const std::vector<Bounds>& gram, const Participation& participation) {
  const size_t steps = static_cast<size_t>(participation.steps);
  const size_t separation = static_cast<size_t>(participation.min_separation);
  const size_t most = static_cast<size_t>(participation.Most());
  double lower = 0;
  for (size_t i = 0; i < steps; ++i) lower = std::max(lower, gram[i * steps + i].lower);
  const Found back = LookBack(Magnitudes(gram, steps, false), separation, most);
  Found ahead = LookBack(Magnitudes(gram, steps, true), separation, most);
  for (size_t& step : ahead.steps) step = steps - 1 - step;
  lower = std::max(
      {lower, AttainedBySigns(gram, steps, back.steps), AttainedBySigns(gram, steps, ahead.steps)});
  const double upper = std::min(back.value, ahead.value);
  return Bounds{lower, RoundUpNonNegative(upper, 4 * static_cast<double>(most) + 8)};
}

}  // namespace epsledger::accounting
