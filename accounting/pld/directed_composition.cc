#include "accounting/pld/directed_composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"
#include "accounting/pld/chernoff.h"
#include "accounting/pld/composed_lattice.h"
#include "accounting/pld/lattice_placement.h"
#include "accounting/pld/lattice_spectrum.h"
#include "accounting/pld/loss_measure.h"

namespace epsledger::accounting {
namespace {

// Truncated tails and aliases may cost this share of the wanted width.
constexpr double kTailShare = 0.02;
constexpr double kSmallestLogTail = -700;
constexpr double kSmallestLogDelta = -660;
constexpr int kRounds = 14;
// log .999: widths are relative to delta, not to 1 - delta, so that beyond this delta questions are
// soon too fine for any lattice.
constexpr double kLogDeltaNearOne = -1.0005e-3;
// The work of a lattice, as Precision::max_work counts it, before a contour with a cut is tried.
constexpr double kQuickWork = 0x1p19;
// A contour that did not pay for this many deltas in a row is not tried again.
constexpr int kContourTries = 3;

}  // namespace

// One discretization and the results computed from it.
struct DirectedComposition::Level {
  double log_tail = 0;  // the profiles were cut where their sum is e^log_tail
  std::vector<MeasurePair> measures;
  std::unique_ptr<FourierTransform> transform;
  std::unique_ptr<LatticeSpectrum> spectrum;
  ComposedLattice composed;
  std::vector<std::vector<LossPiece>> pieces;  // of the measures above, to guide searches
  double nodes_summed = 0;                     // since the sums were composed

  // Tells that the sums will be evaluated at so many indices: they are tabulated where the nodes
  // summed so far took as long as that takes.
  void Expect(double indices);
};

void DirectedComposition::Level::Expect(double indices) {
  if (!composed.sums.above.table.empty()) return;
  nodes_summed += indices * static_cast<double>(composed.sums.above.nodes.size());
  if (nodes_summed < static_cast<double>(transform->size())) return;
  Tabulate(composed.sums.above, composed.sums.below, *transform);
}

// The target of a search: the order at which Chernoff's bound is tightest, and the bound there.
struct DirectedComposition::Aim {
  double saddle = 1;
  double epsilon = 0;
  double log_delta = 0;
};

// The line of the sum, the period that keeps the aliases small there, and the orders whose moments
// bound the aliases.
struct DirectedComposition::Line {
  double tilt = 1;
  double period = 0;
  std::vector<double> moment_orders;
};

DirectedComposition::DirectedComposition(std::vector<CountedProfile> profiles,
                                         std::optional<ContourComposition> contour)
    : profiles_(std::move(profiles)), contour_(std::move(contour)) {
  // Profiles that reveal nothing compose to one that reveals nothing.
  std::erase_if(profiles_, [](const CountedProfile& p) {
    return p.profile->LargestLoss() <= 0 && p.profile->InfinityMass() == 0;
  });
  for (const CountedProfile& p : profiles_) one_sided_ = one_sided_ || !p.profile->exact();
}
DirectedComposition::~DirectedComposition() = default;
DirectedComposition::DirectedComposition(DirectedComposition&&) noexcept = default;
DirectedComposition& DirectedComposition::operator=(DirectedComposition&&) noexcept = default;

void DirectedComposition::Add(size_t index, double more) {
  profiles_[index].count += more;
  if (contour_.has_value()) contour_->Add(index, more);
  if (level_ != nullptr && level_->spectrum != nullptr) Recompose();
}

void DirectedComposition::BuildLevel(double interval, double log_tail) {
  auto level = std::make_unique<Level>();
  level->composed.interval = interval;
  level->log_tail = log_tail;
  for (const CountedProfile& p : profiles_) {
    const Bounds range = LossRange(*p.profile, LogTailOf(p, log_tail));
    level->measures.push_back(Discretize(*p.profile, CoveringLattice(*p.profile, range, interval)));
    const LossMeasure& above = level->measures.back().above;
    work_ += p.profile->Cost() * static_cast<double>(above.masses.size());
    level->pieces.push_back(PiecesOf(above, interval));
  }
  if (level_ != nullptr) level->transform = std::move(level_->transform);
  level_ = std::move(level);
}

double DirectedComposition::LogTailOf(const CountedProfile& p, double log_tail) const {
  const double parts = p.count * static_cast<double>(profiles_.size());
  return std::max(log_tail - std::log(parts), kSmallestLogTail);
}

void DirectedComposition::Recompose() {
  std::vector<double> counts;
  double log_finite_above = 0;
  double log_finite_below = 0;
  double log_total_above = 0;
  level_->composed.largest_index = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const double count = profiles_[i].count;
    counts.push_back(count);
    const MeasurePair& m = level_->measures[i];
    const auto points = static_cast<int64_t>(m.above.masses.size());
    level_->composed.largest_index += count * static_cast<double>(m.above.first + points - 1);
    // The total above is 1 up to the rounding of its masses.
    log_finite_above += count * std::log1p(-std::min(1.0, m.above.infinity_mass));
    log_total_above += count * 8 * kUnitRoundoff;
    log_finite_below += count * std::log1p(-std::min(1.0, m.below.infinity_mass));
  }
  level_->composed.sums = level_->spectrum->Compose(counts);
  level_->nodes_summed = 0;
  // 1 - prod (1 - m)^count: the mass at infinity, whatever the finite parts are.
  const double slack = static_cast<double>(profiles_.size()) + 4;
  const double above = -std::expm1(RoundDown(log_finite_above, slack));
  const double below = -std::expm1(std::min(0.0, RoundUp(log_finite_below, slack)));
  level_->composed.log_infinity_above =
      above > 0 ? std::min(0.0, RoundUp(std::log(above) + log_total_above, 4)) : -kInfinity;
  level_->composed.log_infinity_below = below > 0 ? RoundDown(std::log(below), 4) : -kInfinity;
}

// An approximation of the moment: a guide for searches, not a bound.
double DirectedComposition::LogMomentAt(double order) const {
  double sum = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    sum += profiles_[i].count * RoughLogMoment(level_->pieces[i], order);
  }
  return sum;
}

double DirectedComposition::Saddle(absl::FunctionRef<double(double order)> objective) {
  const Minimum best = MinimizeFrom(
      [&](double log_order) { return objective(std::exp(log_order)); }, std::log(saddle_), 0.5,
      std::log(1e-6), std::log(1 / level_->composed.interval), 0.05, 40);
  saddle_ = std::exp(best.at);
  return best.value;
}

DirectedComposition::Aim DirectedComposition::AimAtDelta(double log_delta) {
  const double epsilon =
      Saddle([&](double c) { return (LogMomentAt(c) - log_delta + LogChernoffConstant(c)) / c; });
  // Chernoff's bound is some e^2.5 above delta.
  return Aim{saddle_, std::max(0.0, epsilon - 2.5 / saddle_), log_delta};
}

DirectedComposition::Aim DirectedComposition::AimAtEpsilon(double epsilon) {
  // Includes the poles at 0 and -1 of the kernel, so that a minimum exists even where delta is near
  // 1.
  const double log_delta =
      Saddle([&](double c) { return LogMomentAt(c) - c * epsilon - std::log(c) - std::log1p(c); });
  return Aim{saddle_, epsilon, std::min(log_delta, -1e-6)};
}

// The saddle is where rounding weighs least; the shortest period may lie elsewhere. Between the
// two, e^8 in rounding is a good price.
DirectedComposition::Line DirectedComposition::ChooseLine(const Aim& aim,
                                                          const Precision& precision) const {
  constexpr double kRatio = 1.3;
  constexpr int kBelow = 5;
  constexpr int kAbove = 8;
  constexpr double kPrice = 8;
  std::vector<double> orders;
  std::vector<double> exponents;  // log moment - order epsilon
  for (int i = -kBelow; i <= kAbove; ++i) {
    orders.push_back(aim.saddle * std::pow(kRatio, i));
    exponents.push_back(LogMomentAt(orders.back()) - orders.back() * aim.epsilon);
  }
  double top = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const LossMeasure& m = level_->measures[i].above;
    top += profiles_[i].count * level_->composed.interval *
           static_cast<double>(m.first + static_cast<int64_t>(m.masses.size()) - 1);
  }
  const double reach = -aim.log_delta - std::log(kTailShare * precision.relative_width);
  Line best;
  best.period = kInfinity;
  for (size_t i = 0; i + 1 < orders.size(); ++i) {
    if (exponents[i] > exponents[kBelow] + kPrice) continue;
    double from_above = kInfinity;
    size_t shown_by = i + 1;
    for (size_t k = i + 1; k < orders.size(); ++k) {
      const double needed =
          (exponents[k] + LogChernoffConstant(orders[k]) + reach) / (orders[k] - orders[i]);
      if (needed < from_above) {
        from_above = needed;
        shown_by = k;
      }
    }
    from_above = std::min(from_above, std::max(0.0, top - aim.epsilon + 2 / aim.saddle));
    const double period = std::max(reach / orders[i], from_above);
    if (period < best.period) {
      best.period = period;
      best.tilt = orders[i];
      best.moment_orders = {orders[shown_by]};
      if (shown_by > i + 1) best.moment_orders.push_back(orders[shown_by - 1]);
      if (shown_by + 1 < orders.size()) best.moment_orders.push_back(orders[shown_by + 1]);
    }
  }
  return best;
}

bool DirectedComposition::BuildSpectrum(const Aim& aim, const Precision& precision) {
  const Line line = ChooseLine(aim, precision);
  int64_t points = 64;
  while (points < precision.max_points &&
         static_cast<double>(points) * level_->composed.interval < line.period) {
    points *= 2;
  }
  if (level_->transform == nullptr || level_->transform->size() != static_cast<size_t>(points)) {
    level_->transform = std::make_unique<FourierTransform>(static_cast<size_t>(points));
  }
  std::vector<double> counts;
  for (const CountedProfile& p : profiles_) counts.push_back(p.count);
  level_->spectrum =
      std::make_unique<LatticeSpectrum>(level_->measures, counts, level_->composed.interval,
                                        line.tilt, line.moment_orders, *level_->transform);
  Recompose();
  work_ += static_cast<double>(points) * static_cast<double>(profiles_.size());
  for (const MeasurePair& pair : level_->measures) {
    work_ += static_cast<double>(pair.above.masses.size());
  }
  return points >= precision.max_points;
}

namespace {

// Returns the epsilon of one use directly from its profile.
Bounds EpsilonOfOne(const PrivacyProfile& profile, double log_delta) {
  constexpr double kTolerance = 1e-15;
  Bounds epsilon{0, kInfinity};
  const auto over_upper = [&](double e) { return profile.LogDelta(e).upper - log_delta; };
  const auto under_lower = [&](double e) { return log_delta - profile.LogDelta(e).lower; };
  if (over_upper(0) <= 0) {
    epsilon.upper = 0;
  } else {
    const double last = std::min(profile.LargestLoss(), 1e9);
    double fails = 0;
    double holds = std::min(1e-3, last);
    while (over_upper(holds) > 0 && holds < last) {
      fails = holds;
      holds = std::min(4 * holds, last);
    }
    if (over_upper(holds) <= 0) {
      epsilon.upper = NarrowCrossing(over_upper, holds, fails, kTolerance).holds;
    }
  }
  // Lower bound: an epsilon where even the lower bound on delta is above the target.
  if (under_lower(0) >= 0) return epsilon;
  double fails = std::isfinite(epsilon.upper) ? epsilon.upper : 1e9;
  if (under_lower(fails) < 0) {
    epsilon.lower =
        std::isfinite(epsilon.upper) || profile.LargestLoss() > fails ? fails : kInfinity;
    return epsilon;
  }
  const auto at_most_zero = [&](double e) {
    const double x = under_lower(e);
    return x < 0 ? x : std::max(x, std::numeric_limits<double>::min());
  };
  epsilon.lower = std::min(NarrowCrossing(at_most_zero, 0, fails, kTolerance).holds, epsilon.upper);
  return epsilon;
}

}  // namespace

double DirectedComposition::IntervalNear(double interval) const {
  std::vector<double> spacings;
  std::vector<double> weights;
  for (const CountedProfile& p : profiles_) {
    spacings.push_back(p.profile->AtomSpacing());
    weights.push_back(p.count);
  }
  return AlignedInterval(interval, spacings, weights);
}

DirectedComposition::Extent DirectedComposition::ExtentOf(double log_tail) const {
  Extent extent{kInfinity, 0, 0};
  for (const CountedProfile& p : profiles_) {
    const Bounds range = LossRange(*p.profile, LogTailOf(p, log_tail));
    extent.narrowest = std::min(extent.narrowest, range.upper - range.lower);
    extent.widest = std::max(extent.widest, range.upper - range.lower);
    extent.work += (p.profile->Cost() + 1) * (range.upper - range.lower);
  }
  return extent;
}

double DirectedComposition::Allowed(const Precision& precision) const {
  return precision.max_work * (1 + static_cast<double>(profiles_.size()) / 128);
}

// One use may take as many points as the composition; all uses together may take the remaining
// work.
double DirectedComposition::SmallestInterval(const Extent& extent, const Precision& precision,
                                             double work) const {
  return IntervalNear(std::max(extent.widest / static_cast<double>(precision.max_points),
                               2 * extent.work / std::max(work, 1.0)));
}

double DirectedComposition::InitialInterval(const Extent& extent) const {
  return IntervalNear(std::max({extent.narrowest / 512, extent.widest / 8192, 1e-14}));
}

double DirectedComposition::SumOfFiniteLosses() const {
  double sum = 0;
  bool exact = true;  // no operation was rounded
  for (const CountedProfile& p : profiles_) {
    const double loss = p.profile->LargestLoss();
    const double product = p.count * loss;
    const double before = sum;
    sum += product;
    // The residues of a product (unless it underflows) and of a sum are doubles themselves.
    exact = exact && loss > 1e-200 && std::fma(p.count, loss, -product) == 0 &&
            sum - before == product && sum - product == before;
  }
  return exact ? sum : RoundUpNonNegative(sum, 2 * static_cast<double>(profiles_.size()) + 2);
}

double DirectedComposition::SumOfLargestLosses() const {
  for (const CountedProfile& p : profiles_) {
    if (p.profile->InfinityMass() > 0) return kInfinity;
  }
  return SumOfFiniteLosses();
}

Bounds DirectedComposition::Epsilon(double log_delta, const Precision& precision) {
  if (log_delta >= 0 || profiles_.empty()) return {0, 0};
  if (!(log_delta > kSmallestLogDelta)) return {0, SumOfLargestLosses()};
  if (profiles_.size() == 1 && profiles_[0].count == 1) {
    return EpsilonOfOne(*profiles_[0].profile, log_delta);
  }
  const double log_tail =
      std::max(log_delta + std::log(kTailShare * precision.relative_width), kSmallestLogTail);
  Bounds best{0, SumOfLargestLosses()};
  const bool near_one = log_delta > kLogDeltaNearOne;
  if (near_one) {
    // Epsilon does not rise with delta.
    best.upper = std::min(best.upper, Epsilon(kLogDeltaNearOne, precision).upper);
  }
  const auto narrow_enough = [&] {
    const double wanted =
        std::max(precision.relative_width * best.upper, precision.absolute_epsilon);
    // Infinity minus anything is not wider than a share of infinity.
    return best.lower == kInfinity || best.upper <= precision.exceeded_epsilon ||
           (std::isfinite(best.upper) && best.upper - best.lower <= wanted);
  };
  const auto read = [&](double near) {
    level_->Expect(20);
    const Bounds found = level_->composed.Epsilon(log_delta, near);
    best = Bounds{std::max(best.lower, found.lower), std::min(best.upper, found.upper)};
  };
  if (narrow_enough()) return best;
  if (contour_.has_value()) {
    const Bounds found = contour_->Epsilon(log_delta, precision);
    best = Bounds{std::max(best.lower, found.lower), std::min(best.upper, found.upper)};
    if (narrow_enough()) return best;
  }
  if (level_ != nullptr) {
    read(last_epsilon_);
    if (narrow_enough()) return best;
  }
  const Extent extent = ExtentOf(log_tail);
  const auto refine = [&](double allowed) {
    double interval = level_ == nullptr ? InitialInterval(extent) : level_->composed.interval;
    for (int round = 0; round < kRounds; ++round) {
      const double smallest = SmallestInterval(extent, precision, allowed - work_);
      interval = std::max(interval, smallest);
      if (round > 0 && interval >= level_->composed.interval) break;
      if (level_ == nullptr || level_->composed.interval != interval ||
          level_->log_tail > log_tail) {
        BuildLevel(interval, log_tail);
      }
      const Aim aim = AimAtDelta(log_delta);
      const bool limited = BuildSpectrum(aim, precision);
      const Bounds before = best;
      read(aim.epsilon);
      last_epsilon_ = std::isfinite(best.upper) ? best.upper : aim.epsilon;
      if (narrow_enough() || limited || interval == smallest) break;
      // The mass at infinity, or beyond any lattice, exceeds the target delta.
      if (level_->composed.log_infinity_above >= log_delta) break;
      const double width = best.upper - best.lower;
      if (round > 3 && !(width < 0.9 * (before.upper - before.lower))) break;  // rounding dominates
      const double wanted =
          std::max(precision.relative_width * best.upper, precision.absolute_epsilon);
      // An interval of an eighth, so less than that share of this change is left.
      if (one_sided_ && round > 0 && before.upper - best.upper <= wanted) break;
      interval = NextInterval(std::isfinite(width) ? width / wanted : kInfinity,
                              best.lower > 0.5 * best.upper);
    }
  };
  // With few uses the contour without a cut is slow, the one with a cut slower, and the lattice
  // fast.
  if (contour_.has_value()) {
    refine(work_ + kQuickWork);
    if (narrow_enough() || near_one) return best;
    best = contour_->EpsilonWithCut(log_delta, precision, best);
    if (narrow_enough()) return best;
  }
  refine(work_ + (near_one ? std::min(kQuickWork, Allowed(precision)) : Allowed(precision)));
  return best;
}

Bounds DirectedComposition::LogDelta(double epsilon, const Precision& precision) {
  if (profiles_.empty()) {
    const double log_delta = epsilon < 0 ? Log1mExp(epsilon) : -kInfinity;
    return {RoundDown(log_delta, 2), log_delta == -kInfinity ? -kInfinity : RoundUp(log_delta, 2)};
  }
  if (profiles_.size() == 1 && profiles_[0].count == 1) {
    return profiles_[0].profile->LogDelta(epsilon);
  }
  const double largest = SumOfLargestLosses();
  if (epsilon >= largest) return {-kInfinity, -kInfinity};
  // E_P(1 - e^{epsilon - L})_+ with every L at most `largest`.
  const double below_end = RoundUp(Log1mExp(epsilon - largest), 4) + 4 * kUlp;
  Bounds best{-kInfinity, std::min(0.0, below_end)};
  const auto narrow_enough = [&] {
    return best.upper == -kInfinity || best.upper <= precision.exceeded_log_delta ||
           -std::expm1(best.lower - best.upper) <= precision.relative_width ||
           std::exp(best.upper) - std::exp(best.lower) <= precision.absolute_delta;
  };
  const auto read = [&] {
    level_->Expect(2);
    const Bounds found = level_->composed.LogDelta(epsilon);
    best = Bounds{std::max(best.lower, found.lower), std::min(best.upper, found.upper)};
  };
  if (contour_.has_value() && contour_failures_ < kContourTries) {
    best = contour_->LogDelta(epsilon, precision);
    best.upper = std::min(best.upper, below_end);
    if (narrow_enough()) {
      contour_failures_ = 0;
      return best;
    }
  }
  if (level_ != nullptr) {
    read();
    if (narrow_enough()) return best;
  }
  if (!(precision.max_work > 0)) return best;
  const double log_share = std::log(kTailShare * precision.relative_width);
  double log_tail = level_ == nullptr ? log_share - 20 : level_->log_tail;
  const auto refine = [&](double allowed) {
    Extent extent = ExtentOf(log_tail);
    double interval = level_ == nullptr ? InitialInterval(extent) : level_->composed.interval;
    if (level_ == nullptr) {
      interval = std::max(interval, SmallestInterval(extent, precision, allowed - work_));
    }
    for (int round = 0; round < kRounds; ++round) {
      if (level_ == nullptr || level_->composed.interval != interval ||
          level_->log_tail > log_tail) {
        BuildLevel(interval, log_tail);
      }
      const Aim aim = AimAtEpsilon(epsilon);
      const bool limited = BuildSpectrum(aim, precision);
      const Bounds before = best;
      read();
      if (narrow_enough()) break;
      // The tail that was cut must be negligible compared with delta.
      const double estimate = std::max(best.lower, std::min(best.upper, aim.log_delta) - 8);
      const double tail_now = std::max(estimate + log_share, kSmallestLogTail);
      const bool tail_weighs = level_->log_tail > tail_now;
      if (tail_weighs) {
        log_tail = tail_now;
        extent = ExtentOf(log_tail);
      }
      if (work_ >= allowed) break;
      const double smallest = SmallestInterval(extent, precision, allowed - work_);
      if ((limited || interval <= smallest) && !tail_weighs) break;
      const double width = best.upper - best.lower;
      if (round > 3 && !(width < 0.9 * (before.upper - before.lower))) break;
      const bool settled =
          before.upper - best.upper <= precision.relative_width ||
          std::exp(before.upper) - std::exp(best.upper) <= precision.absolute_delta;
      if (one_sided_ && round > 0 && settled && !tail_weighs) break;
      const double relative = -std::expm1(-width);
      interval =
          std::max(NextInterval(relative / precision.relative_width, relative < 0.5), smallest);
    }
  };
  // With few uses the contour without a cut is slow, the one with a cut slower, and the lattice
  // fast.
  if (contour_.has_value() && contour_failures_ < kContourTries) {
    refine(work_ + std::min(kQuickWork, Allowed(precision)));
    if (narrow_enough()) return best;
    best = contour_->LogDeltaWithCut(epsilon, precision, best);
    contour_failures_ = narrow_enough() ? 0 : contour_failures_ + 1;
    if (narrow_enough()) return best;
  }
  refine(work_ + Allowed(precision));
  return best;
}

// The error is of second order where the losses are smooth, once the lattice resolves them at all.
double DirectedComposition::NextInterval(double too_wide, bool resolved) const {
  const double least = resolved ? 1.0 / 32 : 1.0 / 8;
  return IntervalNear(level_->composed.interval *
                      std::clamp(0.75 / std::sqrt(too_wide), least, 0.6));
}

}  // namespace epsledger::accounting
