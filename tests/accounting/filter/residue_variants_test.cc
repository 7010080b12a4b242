// The children of a partition, a cap below a cap, and two references side by side, against the best
// adversary, as in residue_blocks_test.cc.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "tests/accounting/filter/residue_game.h"
#include "tests/accounting/filter/residue_promises.h"

namespace epsledger::accounting::residue_game {
namespace {

// ---- Partitions

// The level at which the root's own sessions are charged. The second is a control.
enum class RootLevel { kIsWhatIsLeft, kForgetsTheChildren };

// What one record sees of a root of N units and its disjoint children: `own` of the root's units
// were spent by its own sessions, `used` by the record's child, and `most` by the other child that
// spent most. The root's sessions are charged at N - own - max(used, most), the record's child at
// N - own - used. What the other children put out says nothing of the record, so that the adversary
// lets them spend whatever fits without a price of its own: that covers any number of them.
double ExcessOfPartition(const Game& game, const Pieces& pieces,
                         const std::vector<PriceList>& prices, RootLevel rule, bool reversed) {
  const Table table = TableFor({{&game.reference, reversed}});
  const std::vector<Order> orders = pieces.Orders(reversed);
  const int64_t units = game.reference.units;
  const auto cube = static_cast<size_t>(units + 1);
  std::vector<std::vector<std::vector<Value>>> value(
      cube, std::vector<std::vector<Value>>(cube, std::vector<Value>(cube)));
  for (int64_t own = units; own >= 0; --own) {
    for (int64_t used = units - own; used >= 0; --used) {
      for (int64_t most = units - own; most >= 0; --most) {
        Value best = table.board.Nothing();
        if (own + most < units) best = value[own][used][most + 1];
        const int64_t room = units - own - std::max(used, most);
        for (size_t e = 0; e < orders.size(); ++e) {
          if (const auto& price = prices[e][rule == RootLevel::kIsWhatIsLeft ? room : units - own];
              price.has_value() && price->units <= room) {
            Improve(&best, table.board.After(orders[e], value[own + price->units][used][most]),
                    price->reserve);
          }
          if (const auto& price = prices[e][units - own - used]; price.has_value()) {
            Improve(&best, table.board.After(orders[e], value[own][used + price->units][most]),
                    price->reserve);
          }
        }
        value[own][used][most] = std::move(best);
      }
    }
  }
  return table.board.Excess(value[0][0][0], table.promised[0]);
}

TEST(ResidueVariants, ChildrenOfAPartitionKeepThePromiseAtTheirOwnLevels) {
  std::mt19937 random(21);
  int bought = 0;
  double largest = -1;
  Tally lowered;
  Tally forgetful;
  const int families = FamilyCount(16);
  for (int i = 0; i < families; ++i) {
    const Game game = RandomGame(random, 3, 8, 2);
    const Pieces pieces = PiecesOf(game.reference, game.events);
    const std::vector<PriceList> prices =
        SinglePrices(game.reference, pieces, OneOrTheOther(i, game.reference.units));
    const std::vector<PriceList> lower = OneUnitLower(prices);
    bought += Bought(prices);
    double excess_if_lower = -1;
    double excess_if_forgotten = -1;
    for (const bool reversed : {false, true}) {
      const auto excess_of = [&](const std::vector<PriceList>& at, RootLevel rule) {
        return ExcessOfPartition(game, pieces, at, rule, reversed);
      };
      const double excess = excess_of(prices, RootLevel::kIsWhatIsLeft);
      EXPECT_LE(excess, game.reference.slack + kRounding)
          << "family " << i << ", reference " << Describe(game.reference_event);
      largest = std::max(largest, excess / game.reference.slack);
      excess_if_lower = std::max(excess_if_lower, excess_of(lower, RootLevel::kIsWhatIsLeft));
      excess_if_forgotten =
          std::max(excess_if_forgotten, excess_of(prices, RootLevel::kForgetsTheChildren));
    }
    lowered.Add(excess_if_lower, game.reference.slack);
    forgetful.Add(excess_if_forgotten, game.reference.slack);
  }
  std::printf(
      "%d families, %d prices of other events; the largest excess is %.3f of the slack\n"
      "one unit less: %d broken; the root's level without its children: %d broken\n",
      families, bought, largest, lowered.broken, forgetful.broken);
  EXPECT_GT(bought, families / 2);
  EXPECT_GT(lowered.broken, families / 2);
  EXPECT_GT(forgetful.broken, families / 10);
}

// How a partition under replace-one might be counted, each of them wrongly: the last holds only for
// events that are alike in both orders.
enum class MovedRecord {
  kOwnLevelAndOwnUnits,  // each child may spend all units: nothing is counted twice
  kOwnLevel,      // the two largest children are counted, prices are at the child's own level
  kOwnDirection,  // at the level of the two largest, but each price for its own direction
};

// A record leaves one child and enters another: what the first puts out shows it in one order, what
// the second puts out in the other. The promise is that of the worse order.
double ExcessOfMovedRecord(const Game& game, const Pieces& pieces,
                           const std::vector<PriceList>& prices, MovedRecord rule, bool reversed) {
  const Table table = TableFor({{&game.reference, reversed}, {&game.reference, !reversed}});
  const Board& board = table.board;
  Value promised = table.promised[0];
  Improve(&promised, table.promised[1], 0);
  const std::vector<Order> leaving = pieces.Orders(reversed);
  const std::vector<Order> entering = pieces.Orders(!reversed);
  const int64_t units = game.reference.units;
  const bool two_largest = rule != MovedRecord::kOwnLevelAndOwnUnits;
  std::vector<std::vector<Value>> value(static_cast<size_t>(units + 1),
                                        std::vector<Value>(static_cast<size_t>(units + 1)));
  for (int64_t left = units; left >= 0; --left) {
    for (int64_t entered = two_largest ? units - left : units; entered >= 0; --entered) {
      Value best = board.Nothing();
      const auto price_after = [&](size_t e, int64_t used) -> std::optional<UnitPrice> {
        const int64_t room = units - left - entered;
        const auto& price = prices[e][rule == MovedRecord::kOwnDirection ? room : units - used];
        return price.has_value() && (!two_largest || price->units <= room) ? price : std::nullopt;
      };
      for (size_t e = 0; e < leaving.size(); ++e) {
        if (const auto price = price_after(e, left); price.has_value()) {
          Improve(&best, board.After(leaving[e], value[left + price->units][entered]),
                  price->reserve);
        }
        if (const auto price = price_after(e, entered); price.has_value()) {
          Improve(&best, board.After(entering[e], value[left][entered + price->units]),
                  price->reserve);
        }
      }
      value[left][entered] = std::move(best);
    }
  }
  return board.Excess(value[0][0], promised);
}

bool IsAlikeInBothOrders(const MechanismEvent& event) {
  return event.As<PureDp>() != nullptr || event.As<Gaussian>() != nullptr ||
         event.As<Laplace>() != nullptr;
}

TEST(ResidueVariants, ARecordThatMovesIsCoveredIfItsEventsAreAlikeInBothOrders) {
  std::mt19937 random(23);
  int bought = 0;
  for (int i = 0; i < FamilyCount(16); ++i) {
    Game game = RandomGame(random, 3, 12, 0);
    while (!IsAlikeInBothOrders(game.reference_event)) game = RandomGame(random, 3, 12, 0);
    while (game.events.size() < 3) {
      MechanismEvent event = RandomEvent(random, 0.3);
      if (IsAlikeInBothOrders(event)) game.events.push_back(std::move(event));
    }
    const Pieces pieces = PiecesOf(game.reference, game.events);
    const std::vector<PriceList> prices =
        SinglePrices(game.reference, pieces, OneOrTheOther(i, game.reference.units));
    bought += Bought(prices);
    for (const bool reversed : {false, true}) {
      EXPECT_LE(ExcessOfMovedRecord(game, pieces, prices, MovedRecord::kOwnDirection, reversed),
                game.reference.slack + kRounding)
          << "family " << i << ", reference " << Describe(game.reference_event);
    }
  }
  EXPECT_GT(bought, FamilyCount(16) / 2);
}

TEST(ResidueVariants, BreaksPricesOfARecordThatMoves) {
  std::mt19937 random(22);
  Tally tallies[3];
  for (int i = 0; i < FamilyCount(16); ++i) {
    const Game game = RandomGame(random, 3, 12, 3);
    const Pieces pieces = PiecesOf(game.reference, game.events);
    const std::vector<PriceList> prices = SinglePrices(game.reference, pieces, Exactly());
    for (const MovedRecord rule :
         {MovedRecord::kOwnLevelAndOwnUnits, MovedRecord::kOwnLevel, MovedRecord::kOwnDirection}) {
      double excess = -1;
      for (const bool reversed : {false, true}) {
        excess = std::max(excess, ExcessOfMovedRecord(game, pieces, prices, rule, reversed));
      }
      tallies[static_cast<int>(rule)].Add(excess, game.reference.slack);
    }
  }
  std::printf(
      "moved record, of %d families broken: %d if each child has its units, %d at the "
      "child's own level, %d by direction\n",
      tallies[0].games, tallies[0].broken, tallies[1].broken, tallies[2].broken);
}

// ---- Two filters over the same charges

// Two references on one lattice, with the same slack: an event is the same pair under both.
struct TwoReferences {
  Game game;
  Reference second;
};

// E[loss^2] of one use.
double SpreadOf(const LossPair& pair) {
  double sum = 0;
  for (size_t i = 0; i < pair.masses.size(); ++i) {
    const double loss = static_cast<double>(pair.first + static_cast<int64_t>(i)) * pair.interval;
    sum += pair.masses[i] * loss * loss;
  }
  return sum;
}

// The second has about `share` of what the first has, as far as `least` and `most` units allow.
TwoReferences RandomTwoReferences(std::mt19937& random, int64_t least, int64_t most, int others,
                                  double share) {
  while (true) {
    Game game = RandomGame(random, least, most, others);
    // Prices that take of a reserve would be paid apart under either.
    game.reference.reserve = 0;
    const std::optional<LossPair> pair =
        PairOf(game.events[1], game.reference.pair.interval, std::log(1e-12));
    if (!pair.has_value()) continue;
    const double units = share * static_cast<double>(game.reference.units) *
                         SpreadOf(game.reference.pair) / SpreadOf(*pair);
    Reference second{.pair = *pair,
                     .units = std::llround(
                         std::clamp(units, static_cast<double>(least), static_cast<double>(most))),
                     .slack = game.reference.slack,
                     .reserve = 0};
    return {std::move(game), std::move(second)};
  }
}

// A child with a cap of its own below a parent: what the child's sessions are charged, the parent
// is charged too. Returns the excess over the parent's promise, which is about everything, and over
// the child's, which is about what the child puts out: the parent's other charges take units when
// the adversary likes, and put out nothing of the child's people.
std::pair<double, double> ExcessOfNesting(const TwoReferences& two, const Pieces& pieces,
                                          const std::vector<PriceList>& of_parent,
                                          const std::vector<PriceList>& of_child, bool reversed) {
  const Table table = TableFor({{&two.game.reference, reversed}, {&two.second, reversed}});
  const std::vector<Order> orders = pieces.Orders(reversed);
  std::vector<std::vector<Value>> all;       // by the parent's units left, then by the child's
  std::vector<std::vector<Value>> in_child;  // as far as the child puts out
  for (int64_t left = 0; left <= two.game.reference.units; ++left) {
    all.emplace_back();
    in_child.emplace_back();
    for (int64_t child_left = 0; child_left <= two.second.units; ++child_left) {
      Value best = table.board.Nothing();
      Value best_in_child = left > 0 ? in_child[left - 1][child_left] : table.board.Nothing();
      for (size_t e = 0; e < orders.size(); ++e) {
        const std::optional<UnitPrice>& price = of_parent[e][left];
        if (!price.has_value()) continue;
        const int64_t rest = left - price->units;
        Improve(&best, table.board.After(orders[e], all[rest][child_left]), 0);
        const std::optional<UnitPrice>& child_price = of_child[e][child_left];
        if (!child_price.has_value()) continue;
        const int64_t child_rest = child_left - child_price->units;
        Improve(&best, table.board.After(orders[e], all[rest][child_rest]), 0);
        Improve(&best_in_child, table.board.After(orders[e], in_child[rest][child_rest]), 0);
      }
      all.back().push_back(std::move(best));
      in_child.back().push_back(std::move(best_in_child));
    }
  }
  return {table.board.Excess(all.back().back(), table.promised[0]),
          table.board.Excess(in_child.back().back(), table.promised[1])};
}

TEST(ResidueVariants, ACapBelowACapKeepsBothPromises) {
  std::mt19937 random(31);
  int bought = 0;
  double largest = -1;
  Tally lowered_parent;
  Tally lowered_child;
  const int families = FamilyCount(16);
  for (int i = 0; i < families; ++i) {
    const TwoReferences two = RandomTwoReferences(random, 4, 12, 3, 0.7);
    const Reference& parent = two.game.reference;
    const Pieces pieces = PiecesOf(parent, two.game.events);
    const auto of_parent = SinglePrices(parent, pieces, OneOrTheOther(i, parent.units));
    const auto of_child = SinglePrices(two.second, pieces, OneOrTheOther(i, two.second.units));
    bought += Bought(of_parent) + Bought(of_child);
    double parent_if_lower = -1;
    double child_if_lower = -1;
    for (const bool reversed : {false, true}) {
      const auto [above_parent, above_child] =
          ExcessOfNesting(two, pieces, of_parent, of_child, reversed);
      EXPECT_LE(above_parent, parent.slack + kRounding) << "family " << i;
      EXPECT_LE(above_child, two.second.slack + kRounding) << "family " << i;
      largest = std::max({largest, above_parent / parent.slack, above_child / parent.slack});
      const auto [parent_now, child_now] =
          ExcessOfNesting(two, pieces, OneUnitLower(of_parent), OneUnitLower(of_child), reversed);
      parent_if_lower = std::max(parent_if_lower, parent_now);
      child_if_lower = std::max(child_if_lower, child_now);
    }
    lowered_parent.Add(parent_if_lower, parent.slack);
    lowered_child.Add(child_if_lower, two.second.slack);
  }
  std::printf(
      "%d families, %d prices of other events; the largest excess is %.3f of the slack\n"
      "one unit less: %d parents and %d children broken\n",
      families, bought, largest, lowered_parent.broken, lowered_child.broken);
  EXPECT_GT(bought, families);
  EXPECT_GT(lowered_parent.broken, families / 4);
  EXPECT_GT(lowered_child.broken, families / 8);
}

// What happens to a member of a portfolio that cannot pay for a charge that another pays.
enum class CannotPay { kIsDead, kIsSkipped };

// A charge passes if one of two members can pay, and is charged to each that can. Returns the
// excess over the sum of their promises, and over the larger of both.
std::pair<double, double> ExcessOfPortfolio(const TwoReferences& two, const Pieces& pieces,
                                            const std::vector<PriceList>& first,
                                            const std::vector<PriceList>& second, CannotPay rule,
                                            bool reversed) {
  const Table table = TableFor({{&two.game.reference, reversed}, {&two.second, reversed}});
  const std::vector<Order> orders = pieces.Orders(reversed);
  // A dead member is one without units: no price is below 1.
  const auto rest_of = [&](const std::optional<UnitPrice>& price, int64_t left) -> int64_t {
    if (price.has_value()) return left - price->units;
    return rule == CannotPay::kIsDead ? 0 : left;
  };
  std::vector<std::vector<Value>> value;
  for (int64_t a = 0; a <= two.game.reference.units; ++a) {
    value.emplace_back();
    for (int64_t b = 0; b <= two.second.units; ++b) {
      Value best = table.board.Nothing();
      for (size_t e = 0; e < orders.size(); ++e) {
        if (!first[e][a].has_value() && !second[e][b].has_value()) continue;
        const int64_t next = rest_of(first[e][a], a);
        Improve(&best, table.board.After(orders[e], value[next][rest_of(second[e][b], b)]), 0);
      }
      value.back().push_back(std::move(best));
    }
  }
  Value sum = table.promised[0];
  Value larger = table.promised[0];
  for (size_t j = 0; j < sum.size(); ++j) {
    sum[j] += table.promised[1][j];
    larger[j] = std::max(larger[j], table.promised[1][j]);
  }
  return {table.board.Excess(value.back().back(), sum),
          table.board.Excess(value.back().back(), larger)};
}

TEST(ResidueVariants, APortfolioKeepsTheSumOfItsPromises) {
  std::mt19937 random(41);
  Tally above_one;
  double largest = -1;
  for (int i = 0; i < FamilyCount(16); ++i) {
    const TwoReferences two = RandomTwoReferences(random, 3, 12, 3, 1);
    const Reference& reference = two.game.reference;
    const Pieces pieces = PiecesOf(reference, two.game.events);
    const auto first = SinglePrices(reference, pieces, OneOrTheOther(i, reference.units));
    const auto second = SinglePrices(two.second, pieces, OneOrTheOther(i, two.second.units));
    double above_larger = -1;
    for (const bool reversed : {false, true}) {
      const auto [excess, over_larger] =
          ExcessOfPortfolio(two, pieces, first, second, CannotPay::kIsDead, reversed);
      EXPECT_LE(excess, 2 * reference.slack + kRounding) << "family " << i;
      largest = std::max(largest, excess / reference.slack);
      above_larger = std::max(above_larger, over_larger);
    }
    above_one.Add(above_larger, 2 * reference.slack);
  }
  std::printf(
      "portfolio: %d families, %d above what one member promises; the largest excess above "
      "the sum is %.3f of the slack\n",
      above_one.games, above_one.broken, largest);
}

TEST(ResidueVariants, BreaksAMemberThatIsSkippedAndComesBack) {
  std::mt19937 random(42);
  Tally tally;
  for (int i = 0; i < FamilyCount(16); ++i) {
    const TwoReferences two = RandomTwoReferences(random, 3, 12, 3, 1);
    const Pieces pieces = PiecesOf(two.game.reference, two.game.events);
    const auto first = SinglePrices(two.game.reference, pieces, Exactly());
    const auto second = SinglePrices(two.second, pieces, Exactly());
    double excess = -1;
    for (const bool reversed : {false, true}) {
      excess = std::max(
          excess,
          ExcessOfPortfolio(two, pieces, first, second, CannotPay::kIsSkipped, reversed).first);
    }
    tally.Add(excess, 2 * two.game.reference.slack);
  }
  std::printf("skipped member: %d of %d families broken\n", tally.broken, tally.games);
  EXPECT_GT(tally.broken, tally.games / 2);
}

}  // namespace
}  // namespace epsledger::accounting::residue_game
