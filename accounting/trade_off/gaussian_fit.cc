#include "accounting/trade_off/gaussian_fit.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr int kLines = 160;
constexpr double kFirstEpsilon = 0.25;
constexpr double kNegligibleShare = 1e-4;
constexpr double kFlattestEpsilon = 350;
constexpr double kFlatStep = 1.02;
// f >= f_{epsilon_i, delta_i} for every line, in both orders ([DRS19] Prop 2.5 and 2.12).
class EnvelopeOfLines : public TradeOffFunction::Representation {
 public:
  struct Line {
    double epsilon;
    double delta;
  };
  // By increasing epsilon, starting at 0.
  explicit EnvelopeOfLines(std::vector<Line> lines) : lines_(std::move(lines)) {}

  Bounds At(double alpha) const override {
    double lower = 0;
    for (const Line& line : lines_) {
      const double steep = 1 - line.delta - RoundUp(std::exp(line.epsilon) * alpha, 4);
      const double flat = RoundDown(std::exp(-line.epsilon), 4) * (1 - line.delta - alpha);
      lower = std::max({lower, steep, flat});
    }
    // The envelope itself, which is all that is promised. A difference is off by a few ulp of 1.
    return Bounds{RoundDownNonNegative(lower, 4), std::min(RoundUp(1 - alpha), lower + 0x1p-48)};
  }

  // delta is convex in e^epsilon, so it lies below its chords; the pair is its own reverse.
  Bounds Delta(double epsilon) const override {
    if (epsilon < 0) {
      const double reverse = -std::expm1(epsilon) + std::exp(epsilon) * Delta(-epsilon).upper;
      return Bounds{reverse, reverse};
    }
    const auto right =
        std::upper_bound(lines_.begin(), lines_.end(), epsilon,
                         [](double wanted, const Line& line) { return wanted < line.epsilon; });
    if (right == lines_.end()) return Bounds{0, lines_.back().delta};
    if (right == lines_.begin()) return Bounds{lines_.front().delta, 1};
    const Line& left = *(right - 1);
    const double weight =
        std::expm1(epsilon - left.epsilon) / std::expm1(right->epsilon - left.epsilon);
    const double chord = left.delta + weight * (right->delta - left.delta);
    return Bounds{chord, chord};
  }
  bool symmetric() const override { return true; }

 private:
  const std::vector<Line> lines_;
};

}  // namespace

absl::StatusOr<GaussianSummary> FitGaussian(absl::FunctionRef<double(double epsilon)> delta_above,
                                            double smallest_alpha) {
  RETURN_IF_ERROR(CheckInterval("smallestAlpha", smallest_alpha, Interval{0, 0.5, false, false}));
  // The slopes of f on [smallest_alpha, 1 - smallest_alpha] are below 1 / smallest_alpha.
  const double end = std::log((1 - smallest_alpha) / smallest_alpha);
  // Beyond some epsilon delta is negligible compared with smallest_alpha.
  double highest = kFirstEpsilon;
  while (highest < end && delta_above(highest) > kNegligibleShare * smallest_alpha) highest *= 2;
  highest = std::min(highest, end);
  // Where it is not, f(1 - smallest_alpha) is far smaller than smallest_alpha, and so are the
  // slopes.
  double flattest = end;
  while (flattest < kFlattestEpsilon && delta_above(flattest) > kNegligibleShare * smallest_alpha) {
    flattest *= kFlatStep * kFlatStep;
  }
  std::vector<EnvelopeOfLines::Line> lines;
  lines.reserve(kLines + 1);
  for (int i = 0; i < kLines; ++i) {
    const double epsilon = highest * i / (kLines - 1);
    lines.push_back({epsilon, delta_above(epsilon)});
  }
  if (end > highest) lines.push_back({end, lines.back().delta});
  for (double epsilon = end * kFlatStep; epsilon < flattest; epsilon *= kFlatStep) {
    lines.push_back({epsilon, delta_above(epsilon)});
  }
  return SummarizeAsGaussian(TradeOffFunction(std::make_shared<EnvelopeOfLines>(std::move(lines))),
                             smallest_alpha);
}

}  // namespace epsledger::accounting
