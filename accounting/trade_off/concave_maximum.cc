#include "accounting/trade_off/concave_maximum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Rounding of a line's value, relative to the sizes of its terms: five operations.
constexpr double kLineRounding = 16 * kUnitRoundoff;
// The distance of a guarded point from the ends of an interval, as a share of its logarithmic
// length.
constexpr double kGuard = 0.1;
// Samples closer to an end than this share of the interval are skipped.
constexpr double kTwin = 1e-6;
// An interval that begins at 0 is not cut below this factor times its end.
constexpr double kTowardsZero = 1e-3;

// line(t), rounded up.
double ValueAt(const Majorant& line, double t) {
  const double change = line.slope * (t - line.at);
  const double value = line.value + change;
  if (std::isnan(value)) return kInfinity;
  return value + kLineRounding * (std::abs(line.value) + std::abs(change));
}

// The line through the lower end of `far` and the upper end of `near`: it is above g on the side of
// `near` opposite to `far`.
Majorant Secant(const ConcaveSample& far, const ConcaveSample& near) {
  return Majorant{near.at, near.value.upper,
                  (near.value.upper - far.value.lower) / (near.at - far.at)};
}

struct Peak {
  double value;  // g is at most this on the interval
  double at;     // the position of that value
};

// Returns the largest value on [low, high] that the two lines allow.
Peak PeakOf(const Majorant& a, const Majorant& b, double low, double high) {
  if (a.slope >= 0 && b.slope >= 0) {
    return Peak{std::min(ValueAt(a, high), ValueAt(b, high)), high};
  }
  if (a.slope <= 0 && b.slope <= 0) {
    return Peak{std::min(ValueAt(a, low), ValueAt(b, low)), low};
  }
  // One line rises and one falls. At *any* t the larger of the two is at least their crossing.
  const double crossing =
      (b.value - a.value + a.slope * a.at - b.slope * b.at) / (a.slope - b.slope);
  const double t = std::isnan(crossing) ? low : std::clamp(crossing, low, high);
  return Peak{std::max(ValueAt(a, t), ValueAt(b, t)), t};
}

class Search {
 public:
  explicit Search(const ConcaveProblem& problem) : problem_(problem), samples_(problem.known) {
    std::sort(samples_.begin(), samples_.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
  }

  void Add(const ConcaveSample& sample) {
    const auto after = std::upper_bound(samples_.begin(), samples_.end(), sample.at,
                                        [](double t, const auto& s) { return t < s.at; });
    samples_.insert(after, sample);
  }
  bool Has(double t) const {
    return std::any_of(samples_.begin(), samples_.end(), [t](const auto& s) { return s.at == t; });
  }

  double Lower() const {
    double lower = -kInfinity;
    for (const auto& sample : samples_) lower = std::max(lower, sample.value.lower);
    return lower;
  }

  struct Interval {
    double low;
    double high;
    Peak peak;
  };
  // Returns the interval between neighboring samples that can hold the largest value. With `exact`
  // the lower ends are used as the function itself.
  Interval Widest(bool exact) const {
    // Neighbors give the tightest secants; samples further away give secants that suffer least from
    // the width of the bounds.
    const int reach = exact ? 1 : 3;
    std::vector<ConcaveSample> samples = samples_;
    if (exact) {
      for (auto& sample : samples) sample.value.upper = sample.value.lower;
    }
    Interval best{problem_.low, problem_.high, Peak{-kInfinity, problem_.low}};
    const int n = static_cast<int>(samples.size());
    for (int i = -1; i < n; ++i) {
      const double low = i < 0 ? problem_.low : samples[i].at;
      const double high = i + 1 < n ? samples[i + 1].at : problem_.high;
      if (!(low < high)) continue;
      std::vector<Majorant> lines = problem_.majorants;
      for (int far = i - 1; far >= std::max(0, i - reach); --far) {
        lines.push_back(Secant(samples[far], samples[i]));
      }
      for (int far = i + 2; far < std::min(n, i + 2 + reach); ++far) {
        lines.push_back(Secant(samples[far], samples[i + 1]));
      }
      Peak peak{kInfinity, high};
      for (size_t a = 0; a < lines.size(); ++a) {
        for (size_t b = a; b < lines.size(); ++b) {
          const Peak candidate = PeakOf(lines[a], lines[b], low, high);
          if (candidate.value < peak.value) peak = candidate;
        }
      }
      if (peak.value > best.peak.value) best = Interval{low, high, peak};
    }
    return best;
  }

 private:
  const ConcaveProblem& problem_;
  std::vector<ConcaveSample> samples_;
};

// Returns a point inside the interval, near the peak; `guarded` keeps it away from the ends.
double PointIn(const Search::Interval& interval, bool guarded) {
  double t = interval.peak.at;
  if (interval.low <= 0) {
    return std::clamp(t, kTowardsZero * interval.high, (1 - kGuard) * interval.high);
  }
  // A crossing at a sample gives no new information, and secants through nearly equal samples
  // amplify rounding.
  const double closest = kTwin * (interval.high - interval.low);
  if (guarded || !(t > interval.low + closest && t < interval.high - closest)) {
    const double length = std::log(interval.high / interval.low);
    const double share = std::clamp(std::log(t / interval.low) / length, kGuard, 1 - kGuard);
    t = interval.low * std::exp(share * length);
  }
  return t;
}

}  // namespace

Bounds ConcaveMaximum(absl::FunctionRef<Bounds(double)> evaluate, const ConcaveProblem& problem,
                      const ConcaveOptions& options) {
  Search search(problem);
  double next = problem.start;
  for (int i = 0; i < options.max_evaluations; ++i) {
    if (!(next > problem.low && next < problem.high) || search.Has(next)) break;
    Bounds value = evaluate(next);
    if (std::isnan(value.lower)) value.lower = -kInfinity;
    if (std::isnan(value.upper)) value.upper = kInfinity;
    search.Add(ConcaveSample{next, value});
    const double lower = search.Lower();
    const auto widest = search.Widest(/*exact=*/true);
    if (widest.peak.value - lower <=
        std::max(options.absolute_tolerance, options.relative_tolerance * std::abs(lower))) {
      break;
    }
    next = PointIn(widest, i % 2 == 1);
  }
  const double lower = search.Lower();
  return Bounds{lower, std::max(lower, search.Widest(/*exact=*/false).peak.value)};
}

}  // namespace epsledger::accounting
