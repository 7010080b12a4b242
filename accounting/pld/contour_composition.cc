#include "accounting/pld/contour_composition.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"
#include "accounting/pld/chernoff.h"

namespace epsledger::accounting {
namespace {

using Complex = std::complex<double>;

// Aliases, the far end and the quadrature may each cost this share of the wanted width.
constexpr double kShare = 0.03;
// The allowed cost of a line without a cut and (kCutWork) with a cut: nodes times quadrature
// points, about a nanosecond each.
constexpr double kUncutWork = 3e7;
// The same for a few pairs, for which a lattice is quick.
constexpr double kQuickUncutWork = 4e6;
constexpr size_t kFewPairs = 4;
constexpr double kCutWork = 4e8;

// True if the bounds on epsilon are as narrow as wanted.
bool NarrowEnough(Bounds epsilon, const Precision& precision) {
  return epsilon.upper <= precision.exceeded_epsilon ||
         (std::isfinite(epsilon.upper) &&
          epsilon.upper - epsilon.lower <=
              std::max(precision.relative_width * epsilon.upper, precision.absolute_epsilon));
}

bool NarrowEnoughDelta(Bounds log_delta, const Precision& precision) {
  return log_delta.upper <= precision.exceeded_log_delta ||
         -std::expm1(log_delta.lower - log_delta.upper) <= precision.relative_width ||
         std::exp(log_delta.upper) - std::exp(log_delta.lower) <= precision.absolute_delta;
}

}  // namespace

ContourComposition::ContourComposition(std::vector<CountedPair> pairs, Bounds mu)
    : pairs_(std::move(pairs)), mu_(mu) {}

void ContourComposition::Add(size_t index, double more) {
  pairs_[index].count += more;
  if (line_ != nullptr) Recompose();
}

// For small sampling probabilities log M is about (c + c^2) v / 2 with v = q^2 (e^{1/s^2} - 1):
// where q and v differ by less than sqrt(e) one pair represents many, with a count that keeps the
// total v. A guide for searches, not a bound.
void ContourComposition::Represent() {
  struct Group {
    double weight = 0;
    double log_q = 0;
    double log_s = 0;
    double cut = 0;
  };
  const auto log_v = [](double log_q, double s) {
    const double x = 1 / (s * s);
    return 2 * log_q + (x > 37 ? x : std::log(std::expm1(x)));
  };
  constexpr double kCell = 0.5;
  std::map<std::pair<double, double>, Group> groups;
  for (const CountedPair& p : pairs_) {
    const double log_q = std::log(p.pair.sampling_probability);
    const double v = log_v(log_q, p.pair.noise);
    const double cell = std::floor(v / kCell);
    Group& group = groups[{std::floor(log_q / kCell), cell}];
    const double weight = p.count * std::exp(v - cell * kCell);
    group.weight += weight;
    group.log_q += weight * log_q;
    group.log_s += weight * std::log(p.pair.noise);
    group.cut += weight * p.pair.cut;
  }
  representatives_.clear();
  for (const auto& [cell, group] : groups) {
    const double log_q = group.log_q / group.weight;
    const double s = std::exp(group.log_s / group.weight);
    representatives_.push_back(
        {{std::exp(log_q), s, pairs_[0].pair.adjacency, group.cut / group.weight},
         group.weight * std::exp(cell.second * kCell - log_v(log_q, s))});
  }
}

// Makes RoughMoment right at the saddle.
void ContourComposition::AdjustRepresentatives() {
  if (representatives_.size() == pairs_.size()) return;
  const auto sum_over = [this](const std::vector<CountedPair>& pairs) {
    double sum = 0;
    for (const CountedPair& p : pairs) sum += p.count * RoughLogMoment(p.pair, saddle_);
    return sum;
  };
  const double factor = sum_over(pairs_) / sum_over(representatives_);
  if (!(factor > 0.5 && factor < 2)) return;
  for (CountedPair& p : representatives_) p.count *= factor;
}

double ContourComposition::RoughMoment(double order) const {
  double sum = 0.5 * order * (order + 1) * mu_.upper * mu_.upper;
  for (const CountedPair& p : representatives_) sum += p.count * RoughLogMoment(p.pair, order);
  return sum;
}

bool ContourComposition::BuildLine(double epsilon, double log_delta, double relative) {
  // Away from the saddle a factor e^5 in rounding is as bad as a factor e in the period, and with a
  // cut, where every digit is needed, a factor e.
  std::unique_ptr<ContourLine> line = BuildContourLine(
      pairs_, mu_,
      {.epsilon = epsilon, .log_delta = log_delta, .log_share = std::log(kShare * relative)},
      {.saddle = saddle_,
       .work = work_limit_,
       .patience = work_limit_ == kCutWork ? 1.0 : 5.0,
       .rough_moment = [this](double order) { return RoughMoment(order); }});
  if (line == nullptr) return false;
  line_ = std::move(line);
  Recompose();
  return true;
}

void ContourComposition::Cut(double log_mass) {
  line_ = nullptr;
  const double parts = static_cast<double>(pairs_.size());
  for (CountedPair& p : pairs_) {
    p.pair.cut = kInfinity;
    if (log_mass == -kInfinity || p.pair.adjacency == Adjacency::kAdd) continue;
    const double wanted = std::exp(log_mass - std::log(parts * p.count));
    double low = 0;
    double high = 40 + 1 / p.pair.noise;
    for (int i = 0; i < 40; ++i) {
      p.pair.cut = 0.5 * (low + high);
      (CutMass(p.pair) > wanted ? low : high) = p.pair.cut;
    }
    p.pair.cut = high;
  }
}

void ContourComposition::Recompose() {
  ContourLine& line = *line_;
  double set_aside = 0;  // 1 - prod (1 - m)^count <= sum count m
  for (const CountedPair& p : pairs_) set_aside += p.count * CutMass(p.pair);
  line.log_set_aside = set_aside > 0 ? RoundUp(std::log(set_aside), 4) + 1e-12 : -kInfinity;
  TiltedSum sum;
  const double c = line.tilt;
  sum.tilt = c;
  sum.interval = 2 * kPi / line.step;
  sum.log_mass = 0;
  // The plain Gaussian: K(z) = z (z + 1) mu^2 / 2, and |e^{K(c + iy) - K(c)}| = e^{-y^2 mu^2 / 2}.
  const double half_mu = 0.25 * (mu_.lower * mu_.lower + mu_.upper * mu_.upper);
  const double half_mu_error =
      0.25 * (mu_.upper * mu_.upper - mu_.lower * mu_.lower) + 4 * kUnitRoundoff * half_mu;
  sum.log_scale = c * (c + 1) * half_mu;
  sum.log_scale_error = c * (c + 1) * half_mu_error + 8 * kUnitRoundoff * sum.log_scale;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const Bounds moment = line.log_moment[i];
    sum.log_scale += pairs_[i].count * 0.5 * (moment.lower + moment.upper);
    sum.log_scale_error +=
        pairs_[i].count * (0.5 * (moment.upper - moment.lower) +
                           4 * kUnitRoundoff * (std::abs(moment.lower) + std::abs(moment.upper)));
  }
  sum.log_scale_error +=
      static_cast<double>(pairs_.size()) * 2 * kUnitRoundoff * std::abs(sum.log_scale);
  double log_moment = RoundUp(line.order * (line.order + 1) * (half_mu + half_mu_error), 4);
  for (size_t i = 0; i < pairs_.size(); ++i) {
    log_moment += pairs_[i].count * line.log_order_moment[i];
  }
  sum.moments.push_back({line.order, RoundUp(log_moment, 4 + static_cast<double>(pairs_.size()))});

  const double norm = line.step / (2 * kPi);
  double error = 0;
  double heaviest = 0;
  for (int k = 0; k < line.count; ++k) {
    const double y = line.step * k;
    const Complex z(c, y);
    const Complex weight = norm / (z * (z + 1.0));
    double log_size = -half_mu * y * y;
    double phase = (2 * c + 1) * y * half_mu;
    double relative_error = half_mu_error * (y * y + (2 * c + 1) * y) +
                            8 * kUnitRoundoff * (half_mu * y * y + std::abs(phase) + 4);
    phase = std::remainder(phase, 2 * kPi);
    bool lost = false;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const Complex log = line.log_phi[i][static_cast<size_t>(k)];
      const double one = line.relative_error[i][static_cast<size_t>(k)];
      log_size += pairs_[i].count * log.real();
      phase += std::remainder(pairs_[i].count * log.imag(), 2 * kPi);
      lost = lost || !std::isfinite(one);
      relative_error +=
          pairs_[i].count * ((std::isfinite(one) ? one : 0) +
                             8 * kUnitRoundoff * (std::abs(log.real()) + std::abs(log.imag())));
    }
    const double mirror = k == 0 ? 1 : 2;
    if (lost || !(relative_error < 0.5)) {
      // Where a phi was lost, log_size is an upper bound on it.
      const double bound = std::min(log_size + 1e-9 * std::abs(log_size) + relative_error, 0.0);
      error += mirror * std::abs(weight) * std::exp(bound) * (1 + 1e-9);
      continue;
    }
    const double size = std::exp(log_size);
    Complex value = weight * std::polar(size, phase);
    error += mirror * std::abs(value) * (std::expm1(relative_error) + 40 * kUnitRoundoff);
    if (k == 0) value = Complex(value.real(), 0);
    heaviest = std::max(heaviest, std::abs(value));
    sum.nodes.push_back({k, value});
  }
  // The part beyond the nodes: |1/(z(z+1))| <= 1/y^2, summed by its integral and first term.
  double top = line.step * static_cast<double>(line.count - 1);
  for (size_t b = 0; b < line.band_start.size(); ++b) {
    const double start = b == 0 ? std::min(top, line.band_start[b]) : line.band_start[b];
    double log_bound = -0.5 * mu_.lower * mu_.lower * start * start;
    for (size_t i = 0; i < pairs_.size(); ++i) log_bound += pairs_[i].count * line.log_decay[i][b];
    const double terms = 2 * norm * (1 / (line.step * start) + 1 / (start * start));
    error += terms * std::exp(std::min(log_bound + 1e-9 * std::abs(log_bound), 0.0)) * (1 + 1e-9);
  }
  std::erase_if(sum.nodes, [&](const TiltedSum::Node& node) {
    if (std::abs(node.weight) > 1e-19 * heaviest) return false;
    error += 2 * std::abs(node.weight);
    return true;
  });
  sum.error = error * (1 + 1e-9);
  line.sum = std::move(sum);
}

Bounds ContourComposition::Read(double epsilon) const {
  Bounds log_delta = line_->sum.LogProfile(epsilon);
  if (line_->log_set_aside > -kInfinity) {  // the part set aside may reveal everything or nothing
    log_delta.upper = std::min(0.0, RoundUp(LogAddExp(log_delta.upper, line_->log_set_aside), 6));
  }
  return log_delta;
}

Bounds ContourComposition::ReadEpsilon(double log_delta, double near) const {
  const TiltedSum& sum = line_->sum;
  const auto over = [&](double epsilon) { return Read(epsilon).upper - log_delta; };
  const auto under = [&](double epsilon) {
    const double excess = log_delta - Read(epsilon).lower;
    return excess == 0 ? std::numeric_limits<double>::min() : excess;  // <= 0 must mean below
  };
  constexpr double kTolerance = 1e-13;
  Bounds epsilon{0, kInfinity};
  // Steps from `near`, by growing steps, to both sides of the crossing.
  const double unit = std::max(1e-9 * near, 1e-6 / sum.tilt);
  if (over(0) <= 0) {
    epsilon.upper = 0;
  } else {
    double fails = 0;
    double holds = kInfinity;
    double at = near;
    for (double step = unit; step < 1e300; step *= 8) {
      if (over(at) <= 0) {
        holds = at;
        if (fails > 0 || at - step <= 0) break;
        at -= step;
      } else {
        fails = std::max(fails, at);
        if (std::isfinite(holds)) break;
        at += step;
        if (at > 1e9) break;
      }
    }
    if (std::isfinite(holds)) {
      epsilon.upper = NarrowCrossing(over, holds, fails, kTolerance, 60).holds;
    }
  }
  // Steps down from there to where delta certainly exceeds the target.
  double at = std::isfinite(epsilon.upper) ? epsilon.upper : near;
  double fails = kInfinity;
  for (double step = unit; at > 0; step *= 8) {
    if (under(at) < 0) {
      epsilon.lower =
          std::isfinite(fails) ? NarrowCrossing(under, at, fails, kTolerance, 60).holds : at;
      break;
    }
    fails = at;
    at -= step;
  }
  epsilon.lower = std::min(epsilon.lower, epsilon.upper);
  return epsilon;
}

Bounds ContourComposition::Epsilon(double log_delta, const Precision& precision) {
  work_limit_ = pairs_.size() > kFewPairs ? kUncutWork : kQuickUncutWork;
  return EpsilonAsCut(log_delta, precision);
}

Bounds ContourComposition::EpsilonWithCut(double log_delta, const Precision& precision,
                                          Bounds known) {
  if (pairs_.size() <= kFewPairs) {
    work_limit_ = kUncutWork;
    const Bounds whole = EpsilonAsCut(log_delta, precision);
    known = Bounds{std::max(known.lower, whole.lower), std::min(known.upper, whole.upper)};
    if (NarrowEnough(known, precision)) return known;
  }
  work_limit_ = kCutWork;
  const double tilt = std::max(1.0, saddle_ * (std::isfinite(known.upper) ? known.upper : 1));
  Cut(log_delta + std::log(0.1 * kShare * std::min(0.1, precision.relative_width * tilt)));
  Bounds cut = EpsilonAsCut(log_delta, precision);
  Cut(-kInfinity);
  // Nine digits cancel here, and the rounding analysis is first-order: a fifth of the requested
  // width is added on the safe side.
  cut.upper *= 1 + 0.2 * precision.relative_width;
  return Bounds{std::max(known.lower, cut.lower), std::min(known.upper, cut.upper)};
}

Bounds ContourComposition::EpsilonAsCut(double log_delta, const Precision& precision) {
  Bounds best{0, kInfinity};
  const auto narrow_enough = [&] { return NarrowEnough(best, precision); };
  const auto read = [&](double near) {
    const Bounds found = ReadEpsilon(log_delta, near);
    best = Bounds{std::max(best.lower, found.lower), std::min(best.upper, found.upper)};
  };
  if (line_ != nullptr) {
    read(last_epsilon_);
    if (narrow_enough()) {
      last_epsilon_ = best.upper;
      return best;
    }
  }
  Represent();
  const Minimum rough = MinimizeFrom(
      [&](double log_order) {
        const double c = std::exp(log_order);
        return (RoughMoment(c) - log_delta + LogChernoffConstant(c)) / c;
      },
      std::log(saddle_), 0.5, std::log(1e-6), std::log(1e7), 0.05, 40);
  if (!std::isfinite(rough.value)) return best;
  saddle_ = std::exp(rough.at);
  AdjustRepresentatives();
  double near = std::clamp((SaddlePointLogDelta(0) - log_delta) / saddle_, 0.0, rough.value);
  double share = 1;
  for (int round = 0; round < 3; ++round) {
    // An epsilon known to `width` needs delta known to about (saddle epsilon) width.
    const double width =
        std::max(precision.relative_width, precision.absolute_epsilon / std::max(near, 1e-12));
    const double relative = std::clamp(share * width * saddle_ * near, 1e-11, 0.1);
    if (!BuildLine(near, log_delta, relative)) break;
    read(near);
    if (narrow_enough()) break;
    near = std::isfinite(best.upper) ? 0.5 * (best.lower + best.upper) : near;
    if (best.lower < 0.9 * best.upper && std::isfinite(best.upper)) near = best.upper;
    share *= 0.1;
  }
  last_epsilon_ = std::isfinite(best.upper) ? best.upper : near;
  return best;
}

// delta(epsilon) is about e^{F(c) - c epsilon} / sqrt(2 pi F''(c)) at the saddle c of F = K - log z
// - log(z + 1). A guide for searches, not a bound.
double ContourComposition::SaddlePointLogDelta(double epsilon) const {
  const double c = saddle_;
  const double step = 0.05;
  const double at = RoughMoment(c);
  const double curvature =
      (RoughMoment(c * (1 + step)) - 2 * at + RoughMoment(c * (1 - step))) / (c * c * step * step);
  const double second = std::max(curvature, 0.0) + 1 / (c * c) + 1 / ((c + 1) * (c + 1));
  return at - c * epsilon - std::log(c * (c + 1)) - 0.5 * std::log(2 * kPi * second);
}

Bounds ContourComposition::LogDelta(double epsilon, const Precision& precision) {
  work_limit_ = pairs_.size() > kFewPairs ? kUncutWork : kQuickUncutWork;
  return LogDeltaAsCut(epsilon, precision);
}

Bounds ContourComposition::LogDeltaWithCut(double epsilon, const Precision& precision,
                                           Bounds known) {
  Bounds best = known;
  if (pairs_.size() <= kFewPairs) {
    work_limit_ = kUncutWork;
    const Bounds whole = LogDeltaAsCut(epsilon, precision);
    best = Bounds{std::max(best.lower, whole.lower), std::min(best.upper, whole.upper)};
    if (NarrowEnoughDelta(best, precision)) return best;
  }
  work_limit_ = kCutWork;
  const auto guess_below = [&](double last) {
    return best.lower > -kInfinity ? best.lower : std::min(best.upper, last) - 12;
  };
  double guess = guess_below(0);
  for (int round = 0; round < 5; ++round) {
    Cut(guess + std::log(0.1 * kShare * precision.relative_width));
    const Bounds cut = LogDeltaAsCut(epsilon, precision);
    best = Bounds{std::max(best.lower, cut.lower), std::min(best.upper, cut.upper)};
    if (NarrowEnoughDelta(best, precision)) break;
    const double next = guess_below(guess);
    if (std::abs(next - guess) < 0.5) break;  // the same cut again gives no improvement
    guess = next;
  }
  Cut(-kInfinity);
  return best;
}

Bounds ContourComposition::LogDeltaAsCut(double epsilon, const Precision& precision) {
  Bounds best{-kInfinity, 0};
  const auto narrow_enough = [&] { return NarrowEnoughDelta(best, precision); };
  const auto read = [&] {
    const Bounds found = Read(epsilon);
    best = Bounds{std::max(best.lower, found.lower), std::min(best.upper, found.upper)};
  };
  if (line_ != nullptr) {
    read();
    if (narrow_enough()) return best;
  }
  Represent();
  const Minimum rough = MinimizeFrom(
      [&](double log_order) {
        const double c = std::exp(log_order);
        // Includes the poles at 0 and -1, so that a minimum exists even where delta is near 1.
        return RoughMoment(c) - c * epsilon - std::log(c) - std::log1p(c);
      },
      std::log(saddle_), 0.5, std::log(1e-6), std::log(1e7), 0.05, 40);
  if (!std::isfinite(rough.value)) return best;
  saddle_ = std::exp(rough.at);
  AdjustRepresentatives();
  double log_delta = std::min({rough.value, SaddlePointLogDelta(epsilon), -1e-6});
  for (int round = 0; round < 3; ++round) {
    const double relative = std::clamp(precision.relative_width, 1e-11, 0.1);
    if (!BuildLine(epsilon, log_delta, relative)) break;
    read();
    if (narrow_enough()) break;
    log_delta = best.lower > -kInfinity ? best.lower - 1 : std::min(log_delta - 4, best.upper - 1);
  }
  return best;
}

}  // namespace epsledger::accounting
