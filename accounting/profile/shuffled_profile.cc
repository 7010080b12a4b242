#include "accounting/profile/shuffled_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"
#include "boost/math/policies/policy.hpp"
#include "boost/math/special_functions/beta.hpp"

namespace epsledger::accounting {
namespace {

namespace policies = boost::math::policies;

using NoThrow = policies::policy<policies::domain_error<policies::ignore_error>,
                                 policies::pole_error<policies::ignore_error>,
                                 policies::overflow_error<policies::ignore_error>,
                                 policies::evaluation_error<policies::ignore_error>>;

// The incomplete beta function of the library, with its counts below 1e9, is off by far less; the
// tests compare with 64-bit mantissas.
constexpr double kBetaError = 1e-11;
// The error of a difference of two of them, as a share of their sum.
constexpr double kRelativeError = 1e-9;
// What may have been lost to underflow.
constexpr double kNegligible = 1e-290;
// Up to this many clones have a block each.
constexpr double kSingles = 64;
constexpr double kStepsPerDeviation = 6;
constexpr double kBulk = 8;  // deviations below the mean that have blocks of one step
// Beyond this many deviations and records below the mean, probabilities are below the smallest
// double: those of a normal law, and those of a Poisson law of a small mean, as 1 / 170! = 1e-307.
constexpr double kFarthest = 38;
constexpr double kFarthestRecords = 170;

// P[Binomial(trials, p) < successes] and its complement, for 0 < successes <= trials.
double Below(double trials, double p, double successes) {
  return boost::math::ibetac(successes, trials - successes + 1, p, NoThrow());
}
double AtLeast(double trials, double p, double successes) {
  return boost::math::ibeta(successes, trials - successes + 1, p, NoThrow());
}

// For B ~ Binomial(trials, 1/2): P[B = first - 1] and P[B >= first].
struct FairTail {
  double mass;
  double tail;
};
FairTail FairTailFrom(double trials, double first) {
  if (first > trials + 1) return FairTail{0, 0};
  if (first <= 0) return FairTail{0, 1};
  FairTail fair;
  // The density of Beta(first, trials - first + 2) at 1/2 is (trials + 1) times the mass.
  fair.mass =
      boost::math::ibeta_derivative(first, trials - first + 2, 0.5, NoThrow()) / (trials + 1);
  fair.tail = first > trials ? 0 : AtLeast(trials, 0.5, first);
  return fair;
}

double NotNaN(double x) { return std::isnan(x) ? 1 : std::clamp(x, 0.0, 1.0); }

}  // namespace

ShuffledProfile::ShuffledProfile(double epsilon0, int64_t reports) : epsilon0_(epsilon0) {
  const double others = static_cast<double>(std::min(reports, kMostReports) - 1);
  const double p = std::exp(-epsilon0);
  const double mean = others * p;
  const double deviation = std::sqrt(others * p * (1 - p));
  std::vector<double> firsts = {0};
  double next = std::max(1.0, std::floor(mean - kFarthest * deviation - kFarthestRecords));
  while (next <= others && next <= std::max(kSingles, mean + kBulk * deviation)) {
    firsts.push_back(next);
    // Coarser steps far below the mean, where little is lost.
    const double distance = (mean - next) / std::max(deviation, 1e-300);
    const double step =
        deviation / kStepsPerDeviation * std::max(1.0, distance > kBulk ? distance / 4 : 1.0);
    next += next < kSingles ? 1 : std::max(1.0, std::floor(step));
  }
  for (size_t i = 0; i < firsts.size(); ++i) {
    const bool last = i + 1 == firsts.size();
    double probability;
    if (firsts[i] > mean) {
      const double from = AtLeast(others, p, firsts[i]);
      probability = from - (last ? 0 : AtLeast(others, p, firsts[i + 1]));
    } else {
      const double to = last ? 1 : Below(others, p, firsts[i + 1]);
      probability = to - (i == 0 ? 0 : Below(others, p, firsts[i]));
    }
    blocks_.push_back(Block{firsts[i], NotNaN(probability)});
  }
}

// With t = clones + 1 reports of the two kinds, n of them of the first, the likelihood ratio is
// (e n + t - n) / (n + e (t - n)), e = e^epsilon0. It is above x for n > t r, r = (x e - 1) / ((e -
// 1) (1 + x)).
ShuffledProfile::Threshold ShuffledProfile::ThresholdAt(double epsilon, double clones) const {
  const double r =
      std::expm1(epsilon + epsilon0_) / (std::expm1(epsilon0_) * (1 + std::exp(epsilon)));
  const double at = (clones + 1) * r;
  const double slack = 64 * kUnitRoundoff * (1 + epsilon0_) * at + 1e-12;
  const double first = std::floor(at - slack) + 1;
  return Threshold{first, std::floor(at + slack) + 1 > first};
}

Bounds ShuffledProfile::LogDelta(double epsilon) const {
  if (epsilon >= epsilon0_) return Bounds{-kInfinity, -kInfinity};
  if (epsilon <= -epsilon0_) return LogDeltaFloor(epsilon);
  const double above = std::abs(epsilon);  // the pair is its own reverse
  const double q = 1 / (std::exp(epsilon0_) + 1);
  // p - x q and x - 1.
  const double first_kind = q * std::exp(above) * std::expm1(epsilon0_ - above);
  const double excess = std::expm1(above);
  double sum = 0, magnitude = 0;
  for (const Block& block : blocks_) {
    const Threshold threshold = ThresholdAt(above, block.clones);
    // P - x Q of n >= first: b(first - 1) (p - x q) - P[B >= first] (x - 1). Every test is a lower
    // bound, and one of the two is the best.
    double best = 0, parts = 0;
    for (int i = 0; i <= int{threshold.uncertain}; ++i) {
      const FairTail fair = FairTailFrom(block.clones, threshold.first + i);
      const double won = fair.mass * first_kind, lost = fair.tail * excess;
      best = std::max(best, won - lost);
      parts = std::max(parts, won + lost);
    }
    sum += block.probability * best;
    magnitude += block.probability * (parts * (kBetaError / kRelativeError) + best);
  }
  const double error = kRelativeError * magnitude;
  Bounds delta{std::max(0.0, sum - error), std::min(1.0, sum + error + kNegligible)};
  if (std::isnan(delta.upper)) delta = Bounds{0, 1};
  if (epsilon < 0) {  // delta(epsilon) = 1 - x + x delta(-epsilon), x = e^epsilon
    const double x = std::exp(epsilon), told = -std::expm1(epsilon);
    delta = Bounds{RoundDown(told + x * delta.lower, 4),
                   std::min(1.0, RoundUp(told + x * delta.upper, 4))};
  }
  return Bounds{delta.lower > 0 ? std::min(0.0, RoundDown(std::log(delta.lower), 2)) : -kInfinity,
                std::min(0.0, RoundUp(std::log(delta.upper), 2))};
}

Bounds ShuffledProfile::TailUnderQ(double epsilon) const {
  if (epsilon > epsilon0_) return Bounds{0, 0};
  if (epsilon < -epsilon0_) return Bounds{1, 1};
  const double above = std::abs(epsilon);
  const double q = 1 / (std::exp(epsilon0_) + 1);
  // Q[L > epsilon] = q P[B >= first - 1] + (1 - q) P[B >= first]. For epsilon < 0 it is 1 - Q[L <=
  // epsilon], and Q[L <= epsilon] = P[L >= -epsilon], with 1 - q and q exchanged.
  const double weight = epsilon >= 0 ? q : 1 - q;
  double lower = 0, upper = 0;
  for (const Block& block : blocks_) {
    // An outcome at epsilon itself may count or not.
    const Threshold threshold = ThresholdAt(above, block.clones);
    const FairTail most = FairTailFrom(block.clones, threshold.first);
    const FairTail least =
        threshold.uncertain ? FairTailFrom(block.clones, threshold.first + 1) : most;
    lower += block.probability * (least.tail + weight * least.mass);
    upper += block.probability * (most.tail + weight * most.mass);
  }
  if (std::isnan(lower) || std::isnan(upper)) return Bounds{0, 1};
  lower = std::max(0.0, lower * (1 - kRelativeError) - kNegligible);
  upper = std::min(1.0, upper * (1 + kRelativeError) + kNegligible);
  if (epsilon >= 0) return Bounds{lower, upper};
  return Bounds{RoundDownNonNegative(1 - upper), std::min(1.0, RoundUp(1 - lower))};
}

}  // namespace epsledger::accounting
