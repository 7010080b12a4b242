#include "accounting/trade_off/gaussian_summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <queue>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/profile.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

// Searching stops where the lines are this close to f, as a share of mu.
constexpr double kMuTolerance = 5e-5;
constexpr int kFirstLines = 64;
constexpr int kMostLines = 700;
constexpr double kTangentTolerance = 1e-7;
constexpr int kTangentEvaluations = 60;
constexpr double kRegretShare = 1e-2;
constexpr double kRegretTolerance = 1e-6;
constexpr int kMostPieces = 300;
constexpr int kFirstPieces = 16;

double ValueAt(const LineBelow& line, double alpha) {
  return RoundDown(line.intercept - RoundUp(line.slope * alpha), 1);
}

// Returns at least the smallest mu with G_mu(alpha) <= value: -Phi^-1(alpha) - Phi^-1(value).
double MuThrough(double alpha, double value) {
  if (!(value > 0)) return kInfinity;
  return RoundUp(NormalUpperQuantileBounds(alpha).upper + NormalUpperQuantileBounds(value).upper);
}

// A curve of straight lines below f, from which the smallest mu is read. G_mu is convex, so it lies
// below a line between two points as soon as it does at both.
class LinesBelow {
 public:
  LinesBelow(const TradeOffFunction& f, double smallest_alpha)
      : f_(f), low_(smallest_alpha), high_(NextUp(1 - smallest_alpha)) {
    const double steepest = -std::log(smallest_alpha);
    // f reaches 0 at 1, so the slope at 1 - smallest_alpha is at least f there / smallest_alpha.
    const double flattest = std::log(std::max(f.At(high_).lower, 1e-300)) + steepest;
    const double first = std::max(-kLargestEpsilon, std::min(-steepest, flattest));
    for (int i = 0; i < kFirstLines; ++i) {
      const double epsilon = first + (steepest - first) * i / (kFirstLines - 1);
      lines_.emplace(epsilon, f.LineAt(epsilon));
    }
  }

  // Adds lines where the curve is furthest below f.
  void Refine() {
    AddTangentAt(low_);
    AddTangentAt(high_);
    std::priority_queue<Gap> gaps;
    const auto add = [&](double flat, double steep) {
      const Gap gap = GapBetween(flat, steep);
      if (gap.at > low_ && gap.at < high_) gaps.push(gap);
    };
    for (auto it = lines_.begin(); std::next(it) != lines_.end(); ++it) {
      add(it->first, std::next(it)->first);
    }
    for (int i = kFirstLines; i < kMostLines && !gaps.empty(); ++i) {
      const Gap worst = gaps.top();
      const double reached = MuThrough(worst.at, f_.At(worst.at).lower);
      if (worst.mu <= reached * (1 + kMuTolerance) || !(worst.steep - worst.flat > 1e-12)) break;
      gaps.pop();
      const double middle = 0.5 * (worst.flat + worst.steep);
      lines_.emplace(middle, f_.LineAt(middle));
      add(worst.flat, middle);
      add(middle, worst.steep);
    }
  }

  struct Reading {
    double mu;
    double at;
  };
  // Returns the smallest mu of the curve, and where it is reached. The points checked are a path
  // from one end of the range to the other; each step of it is on one line, which is above G_mu at
  // both its ends, so the whole range is covered whatever the order of the points.
  Reading Smallest() const {
    Reading largest{0, 0.5};
    const auto check = [&](double alpha, double value) {
      const double mu = MuThrough(alpha, value);
      if (!(mu <= largest.mu)) largest = Reading{mu, alpha};
    };
    auto line = std::prev(lines_.end());  // the steepest, which is the first in alpha
    while (line != lines_.begin() && !(Crossing(std::prev(line)->second, line->second) > low_)) {
      --line;
    }
    check(low_, ValueAt(line->second, low_));
    for (; line != lines_.begin(); --line) {
      const double at = Crossing(std::prev(line)->second, line->second);
      if (!(at < high_)) break;
      check(at, std::min(ValueAt(line->second, at), ValueAt(std::prev(line)->second, at)));
    }
    check(high_, ValueAt(line->second, high_));
    return largest;
  }

 private:
  // The crossing of two neighboring lines.
  struct Gap {
    double mu;
    double at;
    double flat;
    double steep;
    bool operator<(const Gap& other) const { return mu < other.mu; }
  };

  static double Crossing(const LineBelow& flat, const LineBelow& steep) {
    const double at = (steep.intercept - flat.intercept) / (steep.slope - flat.slope);
    return std::isnan(at) ? 0 : at;
  }
  Gap GapBetween(double flat, double steep) const {
    const LineBelow& a = lines_.at(flat);
    const LineBelow& b = lines_.at(steep);
    const double at = Crossing(a, b);
    return Gap{MuThrough(at, std::min(ValueAt(a, at), ValueAt(b, at))), at, flat, steep};
  }

  // Adds the line that is highest at alpha.
  void AddTangentAt(double alpha) {
    const double first = lines_.begin()->first, last = std::prev(lines_.end())->first;
    const double middle = 0.5 * (first + last);
    const double epsilon =
        MinimizeFrom([&](double e) { return -ValueAt(f_.LineAt(e), alpha); }, middle,
                     0.01 * (last - first), first, last, kTangentTolerance, kTangentEvaluations)
            .at;
    lines_.emplace(epsilon, f_.LineAt(epsilon));
  }

  const TradeOffFunction& f_;
  const double low_;
  const double high_;
  std::map<double, LineBelow> lines_;  // by epsilon: the slope is its exponential
};

double ExpUp(double log_value) { return RoundUp(std::exp(log_value), 2); }

// The regret of G_mu on one side of epsilon = 0, by bisecting the piece on which it may be largest.
// `delta_f` and `f` belong to one order of the pair.
class RegretSearch {
 public:
  RegretSearch(Bounds mu, const TradeOffFunction& f, bool inverse)
      : mu_(mu), f_(f), inverse_(inverse) {}

  double Largest() {
    // delta_G falls, and so does its share: beyond the last piece it is at most that at its end.
    double end = 1;
    while (end < kLargestEpsilon && BeyondAt(end) > 0.1 * kRegretTolerance) end *= 2;
    double rest = BeyondAt(end);
    std::priority_queue<Piece> pieces;
    for (int i = 0; i < kFirstPieces; ++i) {
      pieces.push(PieceOf(end * i / kFirstPieces, end * (i + 1) / kFirstPieces));
    }
    for (int i = 0; i < kMostPieces; ++i) {
      const Piece worst = pieces.top();
      if (worst.upper <= rest ||
          worst.upper <= reached_ + std::max(kRegretTolerance, kRegretShare * reached_)) {
        break;
      }
      const double middle = 0.5 * (worst.first + worst.last);
      if (!(middle > worst.first && middle < worst.last)) break;
      pieces.pop();
      pieces.push(PieceOf(worst.first, middle));
      pieces.push(PieceOf(middle, worst.last));
    }
    return std::max(rest, pieces.top().upper);
  }

 private:
  struct Piece {
    double upper;
    double first;
    double last;
    bool operator<(const Piece& other) const { return upper < other.upper; }
  };

  Bounds Gaussian(double epsilon) const {
    const Bounds log_delta = GaussianLogDelta(mu_, epsilon);
    return Bounds{RoundDownNonNegative(std::exp(log_delta.lower), 2),
                  std::min(1.0, ExpUp(log_delta.upper))};
  }
  Bounds DeltaOf(double epsilon) const {
    return inverse_ ? f_.InverseDelta(epsilon) : f_.Delta(epsilon);
  }
  double BeyondAt(double epsilon) const {
    return RoundUp(Gaussian(epsilon).upper / (1 + std::exp(epsilon)), 4);
  }

  // On [a, b], x = e^epsilon: delta_G is convex in x and below its chord, delta_f is above 1 - f(t)
  // - x t for any t. The difference of these two lines, divided by 1 + x, is monotone: it is
  // largest at an end. t is the slope of the chord of delta_f.
  Piece PieceOf(double a, double b) {
    const double x = std::exp(a), y = std::exp(b);
    const Bounds g_a = Gaussian(a), g_b = Gaussian(b);
    const Bounds d_a = DeltaOf(a), d_b = DeltaOf(b);
    const double t = std::clamp((d_a.upper - d_b.upper) / (y - x), 0.0, 1.0);
    const double f = std::isnan(t) ? 1 : (inverse_ ? f_.InverseAt(t) : f_.At(t)).upper;
    reached_ = std::max({reached_, (g_a.lower - d_a.upper) / (1 + x) - 0x1p-48,
                         (g_b.lower - d_b.upper) / (1 + y) - 0x1p-48});
    const double by_line =
        std::max((g_a.upper - (1 - f - x * t)) / (1 + x), (g_b.upper - (1 - f - y * t)) / (1 + y));
    // Neither profile rises.
    const double by_ends = std::max(0.0, g_a.upper - d_b.lower) / (1 + x);
    // Each number is off by a few ulp of 2 + x, divided by 1 + x.
    const double upper = std::min(by_line, by_ends) + 0x1p-46;
    return Piece{std::max(0.0, std::isnan(upper) ? kInfinity : upper), a, b};
  }

  const Bounds mu_;
  const TradeOffFunction& f_;
  const bool inverse_;
  double reached_ = 0;
};

double RegretOf(double mu, const TradeOffFunction& f) {
  if (mu == kInfinity) return 0.5;  // delta_G <= 1, and epsilon >= 0 on both sides
  const Bounds exactly{mu, mu};
  double regret = RegretSearch(exactly, f, /*inverse=*/false).Largest();
  // For epsilon < 0 the pair is read from its other side, where G_mu is the same.
  if (!f.symmetric()) {
    regret = std::max(regret, RegretSearch(exactly, f, /*inverse=*/true).Largest());
  }
  return std::min(0.5, regret);
}

}  // namespace

absl::StatusOr<GaussianSummary> SummarizeAsGaussian(const TradeOffFunction& f,
                                                    double smallest_alpha) {
  RETURN_IF_ERROR(CheckInterval("smallestAlpha", smallest_alpha, Interval{0, 0.5, false, false}));
  if (const std::optional<Bounds> mu = f.gaussian_mu()) {
    // d delta_G / d mu <= 1/2 everywhere.
    return GaussianSummary{mu->upper, mu->lower, RoundUpNonNegative(mu->upper - mu->lower)};
  }
  LinesBelow lines(f, smallest_alpha);
  lines.Refine();
  const LinesBelow::Reading reading = lines.Smallest();
  GaussianSummary summary{reading.mu, 0, 0};
  for (const double alpha : {reading.at, smallest_alpha, 0.5}) {
    const double reached = RoundDown(NormalUpperQuantileBounds(alpha).lower +
                                     NormalUpperQuantileBounds(f.At(alpha).upper).lower);
    if (reached > summary.mu_lower) summary.mu_lower = std::min(reached, summary.mu);
  }
  summary.regret = RegretOf(summary.mu, f);
  return summary;
}

}  // namespace epsledger::accounting
