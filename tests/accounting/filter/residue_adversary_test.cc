// The residue filter against the best adversary there is, found by dynamic programming.
//
// An adversary holds a family of mechanisms, each exactly the pair that was priced, and chooses the
// next by all outputs so far. V_k(g) = the largest H_g that it reaches with k units left:
//
//   V_k(g) = max(1 - g, 0, max over events of E_P[V_{k-c}(g e^-L); L < inf] + P[L = inf])
//
// with c the event's price at level k. The theorem promises V_N <= R_N + slack at every g and in
// both orders, R_N being N uses of the reference. The controls are what looks true and is not:
// prices one unit lower, prices kept from the first level, and a member that is skipped once and
// comes back.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "accounting/profile/profiles_of.h"

namespace epsledger::accounting {
namespace {

constexpr NeighboringRelation kRelation = NeighboringRelation::kAddOrRemoveOne;

// CI plays this many families; EPSLEDGER_FAMILIES says another number.
int FamilyCount() {
  const char* wanted = std::getenv("EPSLEDGER_FAMILIES");
  return wanted == nullptr ? 60 : std::atoi(wanted);
}

struct Game {
  MechanismEvent reference_event;
  std::vector<MechanismEvent> events;
  Reference reference;
};

MechanismEvent RandomEvent(std::mt19937& random, double scale) {
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

std::optional<LossPair> PairOf(const MechanismEvent& event, double interval, double log_tail) {
  const absl::StatusOr<DirectedProfiles> profiles =
      ProfilesOf(event, Setting{kRelation, {}, {}}, 1, Accountant::kPld);
  if (!profiles.ok()) return std::nullopt;
  absl::StatusOr<LossPair> pair = DominatingPair(*profiles, interval, log_tail, 4000);
  if (!pair.ok()) return std::nullopt;
  return *std::move(pair);
}

Game RandomGame(std::mt19937& random) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  while (true) {
    const double scale = uniform(0.1, 0.6);
    MechanismEvent reference = RandomEvent(random, scale);
    const double interval = std::ldexp(std::floor(uniform(16, 64)), -10);
    const std::optional<LossPair> pair = PairOf(reference, interval, std::log(1e-12));
    if (!pair.has_value()) continue;
    const int64_t units = std::uniform_int_distribution<int64_t>(3, 24)(random);
    std::vector<MechanismEvent> events = {reference};
    for (int i = 0; i < 3; ++i) events.push_back(RandomEvent(random, scale));
    return Game{.reference_event = reference,
                .events = std::move(events),
                .reference = {.pair = *pair,
                              .units = units,
                              .slack = std::pow(10, uniform(-9, -4)),
                              .reserve = 1e-5}};
  }
}

// What the adversary plays: the pair that stands for the event on the reference's lattice.
struct Played {
  LossPair pair;
  std::vector<std::optional<UnitPrice>> price_at;  // by units left
};

// P[loss = (first + i) interval] of one order, with what is infinite.
struct Order {
  int64_t first;
  std::vector<double> masses;
  double infinite;
};
Order OrderOf(const LossPair& pair, bool reversed) {
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

class Board {
 public:
  Board(double interval, double largest)
      : interval_(interval), edge_(static_cast<int64_t>(std::ceil(largest / interval))) {}

  // E of `then` after one use, from below: what lies outside of the board counts 1 - g or nothing.
  double After(const Order& order, const std::vector<double>& then, int64_t j) const {
    double sum = order.infinite;
    for (size_t i = 0; i < order.masses.size(); ++i) {
      const int64_t to = j - order.first - static_cast<int64_t>(i);
      if (to > edge_) continue;
      sum += order.masses[i] *
             (to < -edge_ ? -std::expm1(static_cast<double>(to) * interval_) : then[to + edge_]);
    }
    return sum;
  }

  std::vector<double> Nothing() const {
    std::vector<double> value;
    for (int64_t j = -edge_; j <= edge_; ++j) {
      value.push_back(std::max(0.0, -std::expm1(static_cast<double>(j) * interval_)));
    }
    return value;
  }

  int64_t edge() const { return edge_; }

 private:
  const double interval_;
  const int64_t edge_;
};

// The largest V_N - R_N over g >= 1, in one order, on a board up to e^largest; nothing if the chain
// reaches beyond it. What prices took of the reserve is paid at once.
std::optional<double> LargestExcess(const Game& game, const std::vector<Played>& events,
                                    bool reversed, double largest) {
  const Board board(game.reference.pair.interval, largest);
  std::vector<Order> orders;
  for (const Played& event : events) orders.push_back(OrderOf(event.pair, reversed));
  const Order of_reference = OrderOf(game.reference.pair, reversed);
  std::vector<std::vector<double>> value = {board.Nothing()};
  std::vector<double> chain = board.Nothing();
  for (int64_t k = 1; k <= game.reference.units; ++k) {
    std::vector<double> now = board.Nothing();
    std::vector<double> next_chain = board.Nothing();
    for (int64_t j = -board.edge(); j <= board.edge(); ++j) {
      double& best = now[j + board.edge()];
      next_chain[j + board.edge()] = board.After(of_reference, chain, j);
      for (size_t e = 0; e < events.size(); ++e) {
        const std::optional<UnitPrice>& price = events[e].price_at[k];
        if (!price.has_value() || price->units > k) continue;
        best = std::max(best, board.After(orders[e], value[k - price->units], j) - price->reserve);
      }
    }
    value.push_back(std::move(now));
    chain = std::move(next_chain);
  }
  if (chain.back() - of_reference.infinite * static_cast<double>(game.reference.units) >
      0.01 * game.reference.slack) {
    return std::nullopt;
  }
  double excess = -1;
  for (int64_t j = 0; j <= board.edge() / 2; ++j) {
    excess = std::max(excess, value.back()[j + board.edge()] - chain[j + board.edge()]);
  }
  return excess;
}

double LargestExcess(const Game& game, const std::vector<Played>& events) {
  double excess = -1;
  for (const bool reversed : {false, true}) {
    std::optional<double> reached;
    for (double largest = 8; !reached.has_value(); largest *= 1.5) {
      reached = LargestExcess(game, events, reversed, largest);
    }
    excess = std::max(excess, *reached);
  }
  return excess;
}

// Every event with its price at every level, by `level_of` the units left.
std::vector<Played> Price(const Game& game, const std::function<int64_t(int64_t)>& level_of) {
  ResiduePricer pricer(game.reference);
  std::vector<Played> played;
  for (const MechanismEvent& event : game.events) {
    std::optional<LossPair> pair =
        PairOf(event, game.reference.pair.interval, std::log(game.reference.slack) - 27.6);
    if (!pair.has_value()) continue;
    Played one{.pair = *std::move(pair), .price_at = {std::nullopt}};
    std::optional<UnitPrice> last;
    int64_t last_level = -1;
    for (int64_t k = 1; k <= game.reference.units; ++k) {
      if (const int64_t level = level_of(k); level != last_level) {
        const absl::StatusOr<UnitPrice> price = pricer.PriceOf(event, kRelation, 1, level);
        last = price.ok() ? std::optional<UnitPrice>(*price) : std::nullopt;
        last_level = level;
      }
      one.price_at.push_back(last);
    }
    played.push_back(std::move(one));
  }
  return played;
}

TEST(ResidueAdversary, NeverSpendsMoreThanWasPromised) {
  std::mt19937 random(20261123);
  int bought = 0;
  double largest = -1;
  const int families = FamilyCount();
  for (int i = 0; i < families; ++i) {
    const Game game = RandomGame(random);
    const bool exact = i % 2 == 0;  // the levels themselves, or as the ledger tabulates them
    const std::vector<Played> played = Price(
        game, [&](int64_t left) { return exact ? left : LevelAtMost(game.reference.units, left); });
    for (size_t e = 1; e < played.size(); ++e) {
      bought += played[e].price_at.back().has_value() ? 1 : 0;
    }
    const double excess = LargestExcess(game, played);
    // The game itself is played in doubles.
    EXPECT_LE(excess, game.reference.slack + 1e-12)
        << "family " << i << ", reference " << Describe(game.reference_event);
    largest = std::max(largest, excess / game.reference.slack);
  }
  std::printf("%d families, %d prices of other events; the largest excess is %.3f of the slack\n",
              families, bought, largest);
  EXPECT_GT(bought, families);
  EXPECT_GT(largest, 0.01) << "no adversary gains anything: the search is broken";
}

// The controls: a search that finds nothing wrong with these would find nothing at all.
TEST(ResidueAdversary, BreaksPricesThatAreOneUnitLower) {
  std::mt19937 random(1);
  int broken = 0;
  int games = 0;
  for (int i = 0; i < FamilyCount(); ++i) {
    const Game game = RandomGame(random);
    std::vector<Played> played = Price(game, [](int64_t left) { return left; });
    bool any = false;
    for (Played& event : played) {
      for (std::optional<UnitPrice>& price : event.price_at) {
        if (!price.has_value() || price->units < 2) continue;
        --price->units;
        any = true;
      }
    }
    games += any ? 1 : 0;
    broken += any && LargestExcess(game, played) > game.reference.slack + 1e-12 ? 1 : 0;
  }
  std::printf("one unit less: %d of %d families broken\n", broken, games);
  EXPECT_GT(broken, games / 2);
}

TEST(ResidueAdversary, BreaksPricesThatAreKeptFromTheFirstLevel) {
  std::mt19937 random(2);
  int broken = 0;
  for (int i = 0; i < FamilyCount(); ++i) {
    const Game game = RandomGame(random);
    const std::vector<Played> played = Price(game, [&](int64_t) { return game.reference.units; });
    broken += LargestExcess(game, played) > game.reference.slack + 1e-12 ? 1 : 0;
  }
  std::printf("priced once and kept: %d of %d families broken\n", broken, FamilyCount());
  EXPECT_GT(broken, FamilyCount() / 10);
}

}  // namespace
}  // namespace epsledger::accounting
