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
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "tests/accounting/filter/event_pricer.h"
#include "tests/accounting/filter/residue_game.h"

namespace epsledger::accounting::residue_game {
namespace {

constexpr int kFamilies = 60;

// What the adversary plays: the pair that stands for the event on the reference's lattice.
struct Played {
  LossPair pair;
  PriceList price_at;
};

// The largest V_N - R_N over g >= 1, in one order, on a board up to e^largest; nothing if the chain
// reaches beyond it. What prices took of the reserve is paid at once.
std::optional<double> LargestExcess(const Game& game, const std::vector<Played>& events,
                                    bool reversed, double largest) {
  const Board board(game.reference.pair.interval, largest);
  const std::optional<Value> promised = board.Promised(game.reference, reversed);
  if (!promised.has_value()) return std::nullopt;
  std::vector<Order> orders;
  for (const Played& event : events) orders.push_back(OrderOf(event.pair, reversed));
  std::vector<Value> value = {board.Nothing()};
  for (int64_t k = 1; k <= game.reference.units; ++k) {
    Value now = board.Nothing();
    for (size_t e = 0; e < events.size(); ++e) {
      const std::optional<UnitPrice>& price = events[e].price_at[k];
      if (!price.has_value()) continue;
      Improve(&now, board.After(orders[e], value[k - price->units]), price->reserve);
    }
    value.push_back(std::move(now));
  }
  return board.Excess(value.back(), *promised);
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
std::vector<Played> Price(const Game& game, const LevelRule& level_of) {
  EventPricer pricer(game.reference);
  std::vector<Played> played;
  for (const MechanismEvent& event : game.events) {
    std::optional<LossPair> pair = PlayedPair(game.reference, event);
    if (!pair.has_value()) continue;
    played.push_back({.pair = *std::move(pair),
                      .price_at = PricesOf(&pricer, game.reference.units, event, 1, level_of)});
  }
  return played;
}

TEST(ResidueAdversary, NeverSpendsMoreThanWasPromised) {
  std::mt19937 random(20261123);
  int bought = 0;
  double largest = -1;
  const int families = FamilyCount(kFamilies);
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
  for (int i = 0; i < FamilyCount(kFamilies); ++i) {
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
  for (int i = 0; i < FamilyCount(kFamilies); ++i) {
    const Game game = RandomGame(random);
    const std::vector<Played> played = Price(game, [&](int64_t) { return game.reference.units; });
    broken += LargestExcess(game, played) > game.reference.slack + 1e-12 ? 1 : 0;
  }
  std::printf("priced once and kept: %d of %d families broken\n", broken, FamilyCount(kFamilies));
  EXPECT_GT(broken, FamilyCount(kFamilies) / 10);
}

}  // namespace
}  // namespace epsledger::accounting::residue_game
