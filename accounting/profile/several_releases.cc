#include "accounting/profile/several_releases.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "accounting/numeric/compensated_sum.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/finite_pair_profile.h"
#include "accounting/profile/laplace_pair_profile.h"

namespace epsledger::accounting {
namespace {

constexpr double kMostProducts = 1.1e6;
constexpr double kSameRatio = 1e-13;
constexpr double kLeastOutcome = 1e-290;
constexpr double kMostOutcomeRatio = 1e290;
constexpr double kLargestFiniteLoss = 600;

struct PairOfOrders {
  FinitePair remove;
  FinitePair add;
  bool symmetric;
};

PairOfOrders InBothOrders(const FinitePair& pair) { return PairOfOrders{pair, pair, true}; }

// [KOV15] Thm 3.3: the pair that every (epsilon, delta)-DP pair is a function of.
std::optional<PairOfOrders> ResponsePair(double epsilon, double delta) {
  if (!(epsilon <= kLargestFiniteLoss && delta < 1)) return std::nullopt;
  FinitePair pair;
  pair.only_p = pair.only_q = Bounds{delta, delta};
  const double rest = 1 - delta;
  if (epsilon == 0) {
    pair.outcomes = {{1, rest}};
  } else {
    const double ratio = std::exp(epsilon);
    pair.outcomes = {{ratio, rest / (1 + ratio)}, {1 / ratio, rest / (1 + 1 / ratio)}};
  }
  pair.relative_error = kUlp * (8 + 2 * epsilon);
  return InBothOrders(pair);
}

// The losses are a (2 k - distance), k = 0, ..., distance, of the probabilities 1 / (1 + r), r^k (1
// - r) / (1 + r), and r^distance / (1 + r) under Q, r = e^-a.
std::optional<PairOfOrders> DiscreteLaplacePair(const DiscreteLaplace& event,
                                                const Setting& setting) {
  const double a = event.noise_parameter;
  const double distance = static_cast<double>(event.sensitivity) * setting.shift();
  const bool few = distance < static_cast<double>(kMostComposedOutcomes);
  if (!few || !(a * distance <= kLargestFiniteLoss)) return std::nullopt;
  FinitePair pair;
  const double sum = 1 + std::exp(-a);
  for (auto steps = static_cast<int>(distance); steps >= 0; --steps) {
    const double k = steps;
    const double share = k == distance ? 1 : -std::expm1(-a);
    const double q = k == 0 ? 1 / sum : std::exp(-a * k) * share / sum;
    pair.outcomes.push_back({std::exp(a * (2 * k - distance)), q});
  }
  pair.relative_error = kUlp * (8 + 2 * a * distance);
  return InBothOrders(pair);
}

std::optional<PairOfOrders> PairOfRelease(const MechanismEvent& event, const Setting& setting) {
  if (const auto* pure = event.As<PureDp>()) return ResponsePair(pure->epsilon, 0);
  if (const auto* e = event.As<ApproximateDp>()) return ResponsePair(e->epsilon, e->delta);
  if (const auto* e = event.As<UnverifiedClaim>()) return ResponsePair(e->epsilon, e->delta);
  if (const auto* discrete = event.As<DiscreteLaplace>()) {
    return DiscreteLaplacePair(*discrete, setting);
  }
  const auto* pair = event.As<DominatingPair>();
  // Under replace-one neighbors have no order, and each use may meet them in another one.
  if (pair == nullptr || setting.relation == NeighboringRelation::kReplaceOne) return std::nullopt;
  return PairOfOrders{FinitePairOf(*pair), FinitePairOf(Reverse(*pair)), IsItsOwnReverse(*pair)};
}

// The same on a Poisson sample, where one record is added or removed.
std::optional<PairOfOrders> PairOfSample(const MechanismEvent& event, const Setting& setting) {
  const auto* sampled = event.As<PoissonSampled>();
  const auto* pair = sampled == nullptr ? nullptr : sampled->event->As<DominatingPair>();
  if (pair == nullptr || setting.relation != NeighboringRelation::kAddOrRemoveOne) {
    return std::nullopt;
  }
  const double q = sampled->sampling_probability;
  return PairOfOrders{SampledFinitePairOf(*pair, q, Adjacency::kRemove),
                      SampledFinitePairOf(*pair, q, Adjacency::kAdd), false};
}

// count >= 1.
std::optional<FinitePair> PowerOf(FinitePair pair, double count) {
  std::optional<FinitePair> power;
  double left = count;
  while (left >= 1) {
    if (std::fmod(left, 2) == 1) power = power.has_value() ? ProductOf(*power, pair) : pair;
    if (!power.has_value() && std::fmod(left, 2) == 1) return std::nullopt;
    if (left < 2) break;
    std::optional<FinitePair> square = ProductOf(pair, pair);
    if (!square.has_value()) return std::nullopt;
    pair = *std::move(square);
    left = std::floor(left / 2);
  }
  return power;
}

std::optional<DirectedProfiles> TwoLaplaces(const std::vector<Use>& uses, const Setting& setting) {
  std::vector<Bounds> distances;
  for (const Use& use : uses) {
    const auto* laplace = use.event->As<Laplace>();
    if (laplace == nullptr || use.count > 2) return std::nullopt;
    const double theta = setting.shift() / laplace->noise_multiplier;
    const bool exactly = std::fma(theta, laplace->noise_multiplier, -setting.shift()) == 0;
    const Bounds distance =
        exactly ? Bounds{theta, theta} : Bounds{RoundDownNonNegative(theta), RoundUp(theta)};
    distances.push_back(distance);
    if (use.count > 1) distances.push_back(distance);  // two at most, as above
  }
  if (distances.size() != 2 || !LaplacePairProfile::CanTake(distances[0], distances[1])) {
    return std::nullopt;
  }
  const auto profile = std::make_shared<const LaplacePairProfile>(distances[0], distances[1]);
  return DirectedProfiles{profile, profile};
}

struct CountedPairs {
  PairOfOrders pair;
  double count;
};

std::optional<DirectedProfiles> ProfilesOfProduct(const std::vector<CountedPairs>& pairs) {
  std::optional<FinitePair> remove;
  std::optional<FinitePair> add;
  bool symmetric = true;
  const auto multiply = [](std::optional<FinitePair>& product, const FinitePair& one,
                           double count) {
    std::optional<FinitePair> power = PowerOf(one, count);
    if (power.has_value() && product.has_value()) power = ProductOf(*product, *power);
    product = std::move(power);
    return product.has_value();
  };
  for (const CountedPairs& p : pairs) symmetric = symmetric && p.pair.symmetric;
  for (const CountedPairs& p : pairs) {
    if (!multiply(remove, p.pair.remove, p.count)) return std::nullopt;
    if (!symmetric && !multiply(add, p.pair.add, p.count)) return std::nullopt;
  }
  const auto forward = std::make_shared<const FinitePairProfile>(*remove);
  if (symmetric) return DirectedProfiles{forward, forward};
  return DirectedProfiles{forward, std::make_shared<const FinitePairProfile>(*add)};
}

}  // namespace

std::optional<FinitePair> ProductOf(const FinitePair& a, const FinitePair& b) {
  const double products =
      static_cast<double>(a.outcomes.size()) * static_cast<double>(b.outcomes.size());
  if (a.has_tiny || b.has_tiny || products > kMostProducts) return std::nullopt;
  FinitePair product;
  std::vector<FinitePair::Outcome> all;
  all.reserve(static_cast<size_t>(products));
  for (const FinitePair::Outcome& x : a.outcomes) {
    for (const FinitePair::Outcome& y : b.outcomes) {
      const FinitePair::Outcome both{x.ratio * y.ratio, x.q * y.q};
      if (!(both.ratio >= kLeastOutcome && both.ratio <= kMostOutcomeRatio &&
            both.q >= kLeastOutcome)) {
        return std::nullopt;
      }
      all.push_back(both);
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.ratio > y.ratio; });
  for (size_t i = 0; i < all.size();) {
    const double ratio = all[i].ratio;
    CompensatedSum q;
    for (; i < all.size() && all[i].ratio >= ratio * (1 - kSameRatio); ++i) q.Add(all[i].q);
    product.outcomes.push_back({ratio, q.value()});
  }
  if (product.outcomes.size() > kMostComposedOutcomes) return std::nullopt;
  // 1 - (1 - x) (1 - y)
  const auto either = [](double x, double y) { return x + y * (1 - x); };
  const auto both = [&](Bounds x, Bounds y) {
    return Bounds{RoundDownNonNegative(either(x.lower, y.lower), 4),
                  std::min(1.0, RoundUpNonNegative(either(x.upper, y.upper), 4))};
  };
  product.only_p = both(a.only_p, b.only_p);
  product.only_q = both(a.only_q, b.only_q);
  const double merged = product.outcomes.size() < all.size() ? 1.01 * kSameRatio : 0;
  product.relative_error =
      RoundUp((a.relative_error + b.relative_error) * (1 + 1e-6) + merged + 4 * kUlp, 4);
  return product;
}

std::optional<DirectedProfiles> SeveralReleases(const std::vector<Use>& uses,
                                                const Setting& setting) {
  if (uses.empty()) return std::nullopt;
  if (uses[0].event->As<Laplace>() != nullptr) return TwoLaplaces(uses, setting);
  std::vector<CountedPairs> pairs;
  for (const Use& use : uses) {
    const std::optional<PairOfOrders> pair = PairOfRelease(*use.event, setting);
    if (!pair.has_value()) return std::nullopt;
    pairs.push_back({*pair, use.count});
  }
  return ProfilesOfProduct(pairs);
}

std::optional<DirectedProfiles> ComposedFinitePairs(const std::vector<Use>& uses,
                                                    const Setting& setting) {
  if (uses.empty()) return std::nullopt;
  std::vector<CountedPairs> pairs;
  for (const Use& use : uses) {
    const bool alone = use.event->As<DominatingPair>() != nullptr;
    const std::optional<PairOfOrders> pair =
        alone ? PairOfRelease(*use.event, setting) : PairOfSample(*use.event, setting);
    if (!pair.has_value()) return std::nullopt;
    pairs.push_back({*pair, use.count});
  }
  return ProfilesOfProduct(pairs);
}

}  // namespace epsledger::accounting
