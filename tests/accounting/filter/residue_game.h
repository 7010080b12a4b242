#ifndef EPSLEDGER_TESTS_ACCOUNTING_FILTER_RESIDUE_GAME_H_
#define EPSLEDGER_TESTS_ACCOUNTING_FILTER_RESIDUE_GAME_H_

// The board, the pieces and the prices of the games that an adversary plays against units of a
// reference. A value holds, for every lattice point g, the largest H_g reachable from some state.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "accounting/profile/profiles_of.h"
#include "tests/accounting/filter/event_pricer.h"

namespace epsledger::accounting::residue_game {

inline constexpr NeighboringRelation kRelation = NeighboringRelation::kAddOrRemoveOne;

// Returns the number of families to play: `usual` in CI, or the value of EPSLEDGER_FAMILIES.
inline int FamilyCount(int usual) {
  const char* wanted = std::getenv("EPSLEDGER_FAMILIES");
  return wanted == nullptr ? usual : std::atoi(wanted);
}

struct Game {
  MechanismEvent reference_event;
  std::vector<MechanismEvent> events;
  Reference reference;
};

inline MechanismEvent RandomEvent(std::mt19937& random, double scale) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  switch (std::uniform_int_distribution<int>(0, 6)(random)) {
    case 0:
      return PureDp{scale * uniform(0.3, 2)};
    case 1:
      return PoissonSampled{uniform(0.05, 0.6), MechanismEvent(Gaussian{uniform(0.7, 2) / scale})};
    case 2:
      return Gaussian{uniform(0.8, 4) / scale};
    case 3:
      return Laplace{uniform(0.6, 3) / scale};
    case 4:
      return PoissonSampled{uniform(0.05, 0.6), MechanismEvent(PureDp{scale * uniform(0.5, 3)})};
    case 5:
      return MixtureOfGaussians{.noise_multiplier = uniform(0.8, 2) / scale,
                                .sensitivities = {0, 0.5, 1},
                                .probabilities = {0.5, 0.25, 0.25}};
    default:
      return ApproximateDp{scale * uniform(0.3, 1.5), 1e-6 * uniform(0.01, 1)};
  }
}

inline std::optional<LossPair> PairOf(const MechanismEvent& event, double interval,
                                      double log_tail) {
  const absl::StatusOr<DirectedProfiles> profiles =
      ProfilesOf(event, Setting{kRelation, {}, {}}, 1, Accountant::kPld);
  if (!profiles.ok()) return std::nullopt;
  absl::StatusOr<LossPair> pair = DominatingLossPair(*profiles, interval, log_tail, 4000);
  if (!pair.ok()) return std::nullopt;
  return *std::move(pair);
}

// Returns a game with `least` to `most` units, the reference, and `others` more events.
inline Game RandomGame(std::mt19937& random, int64_t least = 3, int64_t most = 24, int others = 3) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  while (true) {
    const double scale = uniform(0.1, 0.6);
    MechanismEvent reference = RandomEvent(random, scale);
    const double interval = std::ldexp(std::floor(uniform(16, 64)), -10);
    const std::optional<LossPair> pair = PairOf(reference, interval, std::log(1e-12));
    if (!pair.has_value()) continue;
    const int64_t units = std::uniform_int_distribution<int64_t>(least, most)(random);
    std::vector<MechanismEvent> events = {reference};
    for (int i = 0; i < others; ++i) events.push_back(RandomEvent(random, scale));
    return Game{.reference_event = reference,
                .events = std::move(events),
                .reference = {.pair = *pair,
                              .units = units,
                              .slack = std::pow(10, uniform(-9, -4)),
                              .reserve = 1e-5}};
  }
}

// P[loss = (first + i) interval] of one order, and the probability of an infinite loss.
struct Order {
  int64_t first;
  std::vector<double> masses;
  double infinite;
};
inline Order OrderOf(const LossPair& pair, bool reversed) {
  if (!reversed) {
    double sum = 0;
    for (const double mass : pair.masses) sum += mass;
    return {pair.first, pair.masses, std::max(0.0, 1 - sum)};
  }
  Order order{-pair.last(), std::vector<double>(pair.masses.size()), 0};
  double sum = 0;
  for (size_t i = 0; i < pair.masses.size(); ++i) {
    const double loss = static_cast<double>(pair.first + static_cast<int64_t>(i)) * pair.interval;
    const double q = pair.masses[i] * std::exp(-loss);
    order.masses[pair.masses.size() - 1 - i] = q;
    sum += q;
  }
  order.infinite = std::max(0.0, 1 - sum);
  return order;
}

// Indexed by lattice point, from e^-edge to e^edge.
using Value = std::vector<double>;

class Board {
 public:
  Board(double interval, double largest)
      : interval_(interval), edge_(static_cast<int64_t>(std::ceil(largest / interval))) {}

  // Returns the expectation of `then` after one use, from below: points outside the board count as
  // 1 - g or as nothing.
  Value After(const Order& order, const Value& then) const {
    Value sum(then.size(), order.infinite);
    const int64_t size = static_cast<int64_t>(then.size());
    for (size_t i = 0; i < order.masses.size(); ++i) {
      const double mass = order.masses[i];
      if (mass == 0) continue;
      const int64_t loss = order.first + static_cast<int64_t>(i);
      const int64_t inside = std::clamp<int64_t>(loss, 0, size);
      const int64_t end = std::clamp<int64_t>(size + loss, 0, size);
      for (int64_t to = 0; to < inside; ++to) {
        sum[to] += mass * -std::expm1(static_cast<double>(to - loss - edge_) * interval_);
      }
      for (int64_t to = inside; to < end; ++to) sum[to] += mass * then[to - loss];
    }
    return sum;
  }

  Value Nothing() const {
    Value value;
    for (int64_t j = -edge_; j <= edge_; ++j) {
      value.push_back(std::max(0.0, -std::expm1(static_cast<double>(j) * interval_)));
    }
    return value;
  }

  // Returns the profile of all units of the reference, in one order; nullopt if it reaches beyond
  // the board.
  std::optional<Value> Promised(const Reference& reference, bool reversed) const {
    const Order order = OrderOf(reference.pair, reversed);
    Value chain = Nothing();
    for (int64_t k = 1; k <= reference.units; ++k) chain = After(order, chain);
    if (chain.back() - order.infinite * static_cast<double>(reference.units) >
        0.01 * reference.slack) {
      return std::nullopt;
    }
    return chain;
  }

  // Returns the largest value - promised over g >= 1, away from the edge.
  double Excess(const Value& value, const Value& promised) const {
    double excess = -1;
    for (int64_t j = edge_; j <= edge_ + edge_ / 2; ++j) {
      excess = std::max(excess, value[j] - promised[j]);
    }
    return excess;
  }

 private:
  const double interval_;
  const int64_t edge_;
};

// Raises `best` to value - paid.
inline void Improve(Value* best, const Value& value, double paid) {
  for (size_t j = 0; j < value.size(); ++j) (*best)[j] = std::max((*best)[j], value[j] - paid);
}

// Indexed by the units left; nullopt where the units left cannot pay.
using PriceList = std::vector<std::optional<UnitPrice>>;

// Maps the units left to the level for which a price is looked up.
using LevelRule = std::function<int64_t(int64_t)>;

// `units` is the number of units of the reference.
inline PriceList PricesOf(EventPricer* pricer, int64_t units, const MechanismEvent& event,
                          int64_t count, const LevelRule& level_of) {
  PriceList prices = {std::nullopt};
  std::optional<UnitPrice> last;
  int64_t last_level = -1;
  for (int64_t k = 1; k <= units; ++k) {
    if (const int64_t level = level_of(k); level != last_level) {
      const absl::StatusOr<UnitPrice> price = pricer->PriceOf(event, kRelation, count, level);
      last = price.ok() ? std::optional<UnitPrice>(*price) : std::nullopt;
      last_level = level;
    }
    prices.push_back(last.has_value() && last->units <= k ? last : std::nullopt);
  }
  return prices;
}

// Returns the pair by which a pricer of this slack replaces the event.
inline std::optional<LossPair> PlayedPair(const Reference& reference, const MechanismEvent& event) {
  return PairOf(event, reference.pair.interval, std::log(reference.slack) - 27.6);
}

}  // namespace epsledger::accounting::residue_game

#endif  // EPSLEDGER_TESTS_ACCOUNTING_FILTER_RESIDUE_GAME_H_
