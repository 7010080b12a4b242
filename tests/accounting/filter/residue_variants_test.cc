// The residue filter as the ledger uses it, against the best adversary of each game: uses that are
// paid together and run later, the children of a partition, a cap below a cap, and two references
// side by side. residue_adversary_test.cc has the game of single charges.
//
// A state is what the filters have counted and what was paid and has not run. V(state)(g), the
// largest H_g that is reached from it, is max(1 - g, 0) or the best of the moves: a move that
// reveals an output is E_P[V(next)(g e^-L)], any other is V(next). The controls are what looks true
// and is not: an adversary that could not break them would find nothing at all.

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

#include <gtest/gtest.h>

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "tests/accounting/filter/residue_game.h"

namespace epsledger::accounting::residue_game {
namespace {

// The games are played in doubles.
constexpr double kRounding = 1e-12;

LevelRule Exactly() {
  return [](int64_t left) { return left; };
}

// Rounded down to a table, as the ledger does it. LevelAtMost tells all levels below 80 units
// apart, so that small games have a coarser one.
LevelRule Tabulated(int64_t units) {
  return [units](int64_t left) {
    int64_t level = units;
    while (level > left) level -= std::max<int64_t>(1, level / 2);
    return level;
  };
}

LevelRule OneOrTheOther(int family, int64_t units) {
  return family % 2 == 0 ? Exactly() : Tabulated(units);
}

// The events of a game that have a pair on the lattice of `reference`.
struct Pieces {
  std::vector<MechanismEvent> events;
  std::vector<LossPair> pairs;

  std::vector<Order> Orders(bool reversed) const {
    std::vector<Order> orders;
    for (const LossPair& pair : pairs) orders.push_back(OrderOf(pair, reversed));
    return orders;
  }
};

Pieces PiecesOf(const Reference& reference, const std::vector<MechanismEvent>& events) {
  Pieces pieces;
  for (const MechanismEvent& event : events) {
    std::optional<LossPair> pair = PlayedPair(reference, event);
    if (!pair.has_value()) continue;
    pieces.events.push_back(event);
    pieces.pairs.push_back(*std::move(pair));
  }
  return pieces;
}

// What all units of a reference say in one order.
struct Promise {
  const Reference* reference;
  bool reversed;
};

// A board that the promises fit on, and their profiles on it.
struct Table {
  Board board;
  std::vector<Value> promised;
};
Table TableFor(const std::vector<Promise>& promises) {
  for (double largest = 8;; largest *= 1.5) {
    Table table{Board(promises[0].reference->pair.interval, largest), {}};
    for (const Promise& promise : promises) {
      std::optional<Value> profile = table.board.Promised(*promise.reference, promise.reversed);
      if (profile.has_value()) table.promised.push_back(*std::move(profile));
    }
    if (table.promised.size() == promises.size()) return table;
  }
}

// By event, from the prices of single uses.
std::vector<PriceList> SinglePrices(const Reference& reference, const Pieces& pieces,
                                    const LevelRule& level_of) {
  ResiduePricer pricer(reference);
  std::vector<PriceList> prices;
  for (const MechanismEvent& event : pieces.events) {
    prices.push_back(PricesOf(&pricer, event, 1, level_of));
  }
  return prices;
}

// How many prices at the first level are of other events than the reference.
int Bought(const std::vector<PriceList>& prices) {
  int bought = 0;
  for (size_t e = 1; e < prices.size(); ++e) bought += prices[e].back().has_value() ? 1 : 0;
  return bought;
}

// Every price above one unit, one unit lower: an adversary that has any strength breaks it.
PriceList OneUnitLower(PriceList prices) {
  for (std::optional<UnitPrice>& price : prices) {
    if (price.has_value() && price->units > 1) --price->units;
  }
  return prices;
}

std::vector<PriceList> OneUnitLower(std::vector<PriceList> prices) {
  for (PriceList& of_event : prices) of_event = OneUnitLower(std::move(of_event));
  return prices;
}

struct Tally {
  int games = 0;
  int broken = 0;
  void Add(double excess, double slack) {
    ++games;
    broken += excess > slack + kRounding ? 1 : 0;
  }
};

// ---- Blocks

constexpr int64_t kMostOutstanding = 5;

// What was paid and has not run: the number of uses by event.
using Outstanding = std::vector<int64_t>;

int64_t SumOf(const Outstanding& outstanding) {
  int64_t sum = 0;
  for (const int64_t uses : outstanding) sum += uses;
  return sum;
}

// All with at most kMostOutstanding uses in all, the fewest first.
std::vector<Outstanding> AllOutstanding(size_t events) {
  std::vector<Outstanding> all = {Outstanding(events, 0)};
  for (size_t i = 0; i < all.size(); ++i) {
    const Outstanding here = all[i];
    if (SumOf(here) == kMostOutstanding) continue;
    // Each is reached once: by raising the last event that is there, or one after it.
    size_t from = 0;
    for (size_t e = 0; e < events; ++e) from = here[e] > 0 ? e : from;
    for (size_t e = from; e < events; ++e) {
      Outstanding more = here;
      ++more[e];
      all.push_back(std::move(more));
    }
  }
  return all;
}

// prices[event][count][units left]; count 0 is empty.
using BlockPrices = std::vector<std::vector<PriceList>>;

BlockPrices PricesOfBlocks(const Reference& reference, const Pieces& pieces, int64_t most,
                           const LevelRule& level_of) {
  ResiduePricer pricer(reference);
  BlockPrices prices;
  for (const MechanismEvent& event : pieces.events) {
    prices.emplace_back(1);
    for (int64_t count = 1; count <= most; ++count) {
      prices.back().push_back(PricesOf(&pricer, event, count, level_of));
    }
  }
  return prices;
}

// The adversary pays for uses, several of an event as one block if it likes, and runs what it has
// paid for whenever it likes: between the uses of a block it pays for others and runs them. At most
// kMostOutstanding wait at a time, of any events.
double ExcessOfBlocks(const Game& game, const Pieces& pieces, const BlockPrices& prices,
                      bool reversed) {
  const Table table = TableFor({{&game.reference, reversed}});
  const std::vector<Order> orders = pieces.Orders(reversed);
  const std::vector<Outstanding> all = AllOutstanding(pieces.events.size());
  std::map<Outstanding, size_t> place;
  for (size_t i = 0; i < all.size(); ++i) place[all[i]] = i;
  std::vector<std::vector<Value>> value;  // by units left, then by what is outstanding
  for (int64_t left = 0; left <= game.reference.units; ++left) {
    value.emplace_back(all.size(), table.board.Nothing());
    for (size_t i = 0; i < all.size(); ++i) {
      Value* best = &value[left][i];
      for (size_t e = 0; e < orders.size(); ++e) {
        Outstanding next = all[i];
        if (next[e] > 0) {
          --next[e];
          Improve(best, table.board.After(orders[e], value[left][place.at(next)]), 0);
        }
        for (int64_t count = 1; SumOf(all[i]) + count <= kMostOutstanding; ++count) {
          const std::optional<UnitPrice>& price = prices[e][count][left];
          if (!price.has_value()) continue;
          next = all[i];
          next[e] += count;
          Improve(best, value[left - price->units][place.at(next)], price->reserve);
        }
      }
    }
  }
  return table.board.Excess(value.back()[0], table.promised[0]);
}

// How many blocks cost less than as many single charges.
int CheaperBlocks(const BlockPrices& prices) {
  int cheaper = 0;
  for (const std::vector<PriceList>& of_event : prices) {
    for (size_t count = 2; count < of_event.size(); ++count) {
      const std::optional<UnitPrice>& block = of_event[count].back();
      const std::optional<UnitPrice>& single = of_event[1].back();
      if (!block.has_value() || !single.has_value()) continue;
      cheaper += block->units < static_cast<int64_t>(count) * single->units ? 1 : 0;
    }
  }
  return cheaper;
}

void PlayBlocks(uint32_t seed, int families, std::optional<double> slack) {
  std::mt19937 random(seed);
  int cheaper = 0;
  double largest = -1;
  Tally lowered;
  for (int i = 0; i < families; ++i) {
    Game game = RandomGame(random, 3, 12, 2);
    if (slack.has_value()) game.reference.slack = *slack;
    const Pieces pieces = PiecesOf(game.reference, game.events);
    const BlockPrices prices = PricesOfBlocks(game.reference, pieces, kMostOutstanding,
                                              OneOrTheOther(i, game.reference.units));
    cheaper += CheaperBlocks(prices);
    BlockPrices lower = prices;  // of the reference, it would be one use for nothing
    for (size_t e = 1; e < lower.size(); ++e) lower[e] = OneUnitLower(std::move(lower[e]));
    double excess_if_lower = -1;
    for (const bool reversed : {false, true}) {
      const double excess = ExcessOfBlocks(game, pieces, prices, reversed);
      excess_if_lower = std::max(excess_if_lower, ExcessOfBlocks(game, pieces, lower, reversed));
      EXPECT_LE(excess, game.reference.slack + kRounding)
          << "family " << i << ", reference " << Describe(game.reference_event);
      largest = std::max(largest, excess / game.reference.slack);
    }
    lowered.Add(excess_if_lower, game.reference.slack);
  }
  std::printf(
      "%d families, %d blocks cheaper than singles; the largest excess is %.3f of the slack\n"
      "one unit less: %d of %d families broken\n",
      families, cheaper, largest, lowered.broken, lowered.games);
  EXPECT_GT(cheaper, families);
  EXPECT_GT(lowered.broken, families / 2);
}

TEST(ResidueVariants, BlocksThatRunLaterKeepThePromise) {
  PlayBlocks(11, FamilyCount(12), std::nullopt);
}

TEST(ResidueVariants, BlocksThatRunLaterKeepThePromiseWithHardlyAnySlack) {
  PlayBlocks(12, FamilyCount(8), 1e-12);
}

// Prices at the levels that a game reaches, each computed when it is asked for.
class LazyPrices {
 public:
  LazyPrices(const Reference& reference, const Pieces& pieces, LevelRule level_of)
      : pricer_(reference), pieces_(pieces), level_of_(std::move(level_of)) {}

  std::optional<UnitPrice> At(size_t event, int64_t count, int64_t left) {
    if (left < 1) return std::nullopt;
    const int64_t level = level_of_(left);
    const auto [place, is_new] = known_.try_emplace({event, count, level});
    if (is_new) {
      const auto price = pricer_.PriceOf(pieces_.events[event], kRelation, count, level);
      if (price.ok()) place->second = *price;
    }
    return place->second;
  }

 private:
  ResiduePricer pricer_;
  const Pieces& pieces_;
  const LevelRule level_of_;
  std::map<std::tuple<size_t, int64_t, int64_t>, std::optional<UnitPrice>> known_;  // by level
};

// Events of bounded loss under a reference with Gaussian tails: their prices grow with their number
// faster than in proportion, while most events get cheaper by the dozen.
Game BoundedUnderGaussian(std::mt19937& random, int64_t least, int64_t most, int others) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto kind = [&] { return std::uniform_int_distribution<int>(0, 2)(random); };
  const double scale = uniform(0.1, 0.6);
  const auto reference = [&](int of) -> MechanismEvent {
    if (of == 0) return Gaussian{uniform(0.8, 4) / scale};
    if (of == 1) {
      return PoissonSampled{uniform(0.05, 0.6), MechanismEvent(Gaussian{uniform(0.7, 2) / scale})};
    }
    return MixtureOfGaussians{.noise_multiplier = uniform(0.8, 2) / scale,
                              .sensitivities = {0, 0.5, 1},
                              .probabilities = {0.5, 0.25, 0.25}};
  };
  const auto bounded = [&](int of) -> MechanismEvent {
    if (of == 0) return PureDp{scale * uniform(0.45, 3)};
    if (of == 1) return Laplace{uniform(0.4, 2) / scale};
    return PoissonSampled{uniform(0.05, 0.6), MechanismEvent(PureDp{scale * uniform(0.75, 4.5)})};
  };
  const double interval = std::ldexp(std::floor(uniform(16, 64)), -10);
  while (true) {
    const MechanismEvent event = reference(kind());
    const std::optional<LossPair> pair = PairOf(event, interval, std::log(1e-12));
    if (!pair.has_value()) continue;
    Game game{.reference_event = event,
              .events = {},
              .reference = {.pair = *pair,
                            .units = std::uniform_int_distribution<int64_t>(least, most)(random),
                            .slack = std::pow(10, uniform(-9, -6)),
                            .reserve = 0}};
    for (int i = 0; i < others; ++i) game.events.push_back(bounded(kind()));
    return game;
  }
}

// A count of an event is charged in binary digits, each of which is a block, and runs at once.
// Every digit is priced at the level that was left before the count, or at the level that the
// digits before it left. The adversary may spend what is left on the reference.
class CountGame {
 public:
  static constexpr int kDigits = 2;

  CountGame(const Game& game, const Pieces& pieces, LazyPrices* prices, bool all_at_one_level,
            bool reversed)
      : table_(TableFor({{&game.reference, reversed}})),
        orders_(pieces.Orders(reversed)),
        prices_(prices),
        all_at_one_level_(all_at_one_level),
        chain_({table_.board.Nothing()}) {
    const Order of_reference = OrderOf(game.reference.pair, reversed);
    for (int64_t k = 1; k <= game.reference.units; ++k) {
      chain_.push_back(table_.board.After(of_reference, chain_.back()));
    }
  }

  double Excess() {
    return table_.board.Excess(At(static_cast<int64_t>(chain_.size()) - 1), table_.promised[0]);
  }

 private:
  const Value& At(int64_t left) {
    if (const auto found = value_.find(left); found != value_.end()) return found->second;
    Value best = chain_[left];
    for (size_t e = 0; e < orders_.size(); ++e) {
      for (int64_t count = 1; count < 1 << kDigits; ++count) {
        const std::optional<UnitPrice> price = PriceOf(e, count, left);
        if (price.has_value()) Improve(&best, Run(left - price->units, e, count), price->reserve);
      }
    }
    return value_[left] = std::move(best);
  }

  // `count` uses are paid and run, then there are `left` units.
  const Value& Run(int64_t left, size_t event, int64_t count) {
    if (count == 0) return At(left);
    const std::tuple key(left, event, count);
    if (const auto found = run_.find(key); found != run_.end()) return found->second;
    Value value = table_.board.After(orders_[event], Run(left, event, count - 1));
    return run_[key] = std::move(value);
  }

  std::optional<UnitPrice> PriceOf(size_t event, int64_t count, int64_t left) {
    UnitPrice sum;
    for (int digit = kDigits - 1; digit >= 0; --digit) {
      if ((count >> digit & 1) == 0) continue;
      const std::optional<UnitPrice> price =
          prices_->At(event, int64_t{1} << digit, all_at_one_level_ ? left : left - sum.units);
      if (!price.has_value()) return std::nullopt;
      sum.units += price->units;
      sum.reserve += price->reserve;
      if (sum.units > left) return std::nullopt;
    }
    return sum;
  }

  const Table table_;
  const std::vector<Order> orders_;
  LazyPrices* const prices_;
  const bool all_at_one_level_;
  std::vector<Value> chain_;  // by units of the reference
  std::map<int64_t, Value> value_;
  std::map<std::tuple<int64_t, size_t, int64_t>, Value> run_;
};

TEST(ResidueVariants, BreaksDigitsOfACountThatAreChargedAtOneLevel) {
  std::mt19937 random(13);
  Tally tally;
  for (int i = 0; i < FamilyCount(16); ++i) {
    const Game game = BoundedUnderGaussian(random, 20, 28, 5);
    const Pieces pieces = PiecesOf(game.reference, game.events);
    LazyPrices prices(game.reference, pieces, Exactly());
    double excess = -1;
    for (const bool reversed : {false, true}) {
      EXPECT_LE(CountGame(game, pieces, &prices, false, reversed).Excess(),
                game.reference.slack + kRounding)
          << "family " << i << ", reference " << Describe(game.reference_event);
      excess = std::max(excess, CountGame(game, pieces, &prices, true, reversed).Excess());
    }
    tally.Add(excess, game.reference.slack);
  }
  std::printf("digits at one level: %d of %d families broken\n", tally.broken, tally.games);
  EXPECT_GT(tally.broken, tally.games / 10);
}

// Many units, so that the ledger's own table leaves levels out.
TEST(ResidueVariants, CountsAtTheLevelsOfTheLedgerKeepThePromise) {
  std::mt19937 random(15);
  double largest = -1;
  int dear = 0;
  const int families = FamilyCount(5);
  for (int i = 0; i < families; ++i) {
    const Game game = BoundedUnderGaussian(random, 90, 110, 3);
    const int64_t units = game.reference.units;
    const Pieces pieces = PiecesOf(game.reference, game.events);
    LazyPrices prices(game.reference, pieces,
                      [units](int64_t left) { return LevelAtMost(units, left); });
    for (size_t e = 0; e < pieces.events.size(); ++e) {
      const std::optional<UnitPrice> price = prices.At(e, 1, units);
      dear += price.has_value() && price->units > 1 ? 1 : 0;
    }
    for (const bool reversed : {false, true}) {
      const double excess = CountGame(game, pieces, &prices, false, reversed).Excess();
      EXPECT_LE(excess, game.reference.slack + kRounding)
          << "family " << i << ", reference " << Describe(game.reference_event);
      largest = std::max(largest, excess / game.reference.slack);
    }
  }
  std::printf("%d families, %d prices above one unit; the largest excess is %.3f of the slack\n",
              families, dear, largest);
  EXPECT_GT(dear, families);
}

// When the uses of a session are priced together.
enum class Together { kBeforeTheFirst, kAfterTheLast };

// A session's uses of two events are priced together at the level before the first of them: either
// their numbers are fixed then, or they are charged singly, the adversary stops when it likes, and
// what they have cost more is given back.
class MergeGame {
 public:
  static constexpr int64_t kMostUses = 4;

  MergeGame(const Reference& reference, const Pieces& pieces) : reference_(reference) {
    ResiduePricer pricer(reference);
    for (int64_t a = 0; a <= kMostUses; ++a) {
      for (int64_t b = 0; a + b <= kMostUses; ++b) {
        Composed uses;
        if (a > 0) uses.events.push_back({pieces.events[0], a});
        if (b > 0) uses.events.push_back({pieces.events[1], b});
        if (a + b > 0) prices_[{a, b}] = PricesOf(&pricer, uses, 1, Exactly());
      }
    }
  }

  double Excess(const Pieces& pieces, Together rule, bool reversed) const {
    const Table table = TableFor({{&reference_, reversed}});
    const std::vector<Order> orders = pieces.Orders(reversed);
    const Order of_reference = OrderOf(reference_.pair, reversed);
    std::vector<Value> value = {table.board.Nothing()};
    for (int64_t first = 1; first <= reference_.units; ++first) {
      Value best = table.board.After(of_reference, value.back());
      const auto session = rule == Together::kBeforeTheFirst ? &MergeGame::PrepaidSession
                                                             : &MergeGame::MergedSession;
      Improve(&best, (this->*session)(table.board, orders, value, first), 0);
      value.push_back(std::move(best));
    }
    return table.board.Excess(value.back(), table.promised[0]);
  }

 private:
  using Uses = std::pair<int64_t, int64_t>;

  // V of a session that begins with `first` units; value[k] is V with k units and no session.
  Value PrepaidSession(const Board& board, const std::vector<Order>& orders,
                       const std::vector<Value>& value, int64_t first) const {
    Value best = board.Nothing();
    for (const auto& [uses, prices] : prices_) {
      if (!prices[first].has_value()) continue;
      Value after = value[first - prices[first]->units];
      for (int64_t a = 0; a < uses.first; ++a) after = board.After(orders[0], after);
      for (int64_t b = 0; b < uses.second; ++b) after = board.After(orders[1], after);
      Improve(&best, after, prices[first]->reserve);
    }
    return best;
  }

  Value MergedSession(const Board& board, const std::vector<Order>& orders,
                      const std::vector<Value>& value, int64_t first) const {
    const std::map<Uses, UnitPrice> paid = PaidSingly(first);
    std::map<Uses, Value> after;
    for (auto at = paid.rbegin(); at != paid.rend(); ++at) {
      const auto& [uses, singly] = *at;
      Value now = board.Nothing();
      if (singly.units > 0) Improve(&now, value[first - singly.units], singly.reserve);
      if (const auto merged = prices_.find(uses);
          merged != prices_.end() && merged->second[first].has_value()) {
        const UnitPrice& together = *merged->second[first];
        Improve(&now, value[first - together.units], together.reserve);
      }
      for (const size_t e : {0, 1}) {
        const auto next = after.find(One(uses, e));
        if (next != after.end()) Improve(&now, board.After(orders[e], next->second), 0);
      }
      after[uses] = std::move(now);
    }
    return after.at({0, 0});
  }

  // What uses have paid singly, in the order in which that is the most; nothing that does not fit.
  std::map<Uses, UnitPrice> PaidSingly(int64_t first) const {
    std::map<Uses, UnitPrice> paid = {{{0, 0}, UnitPrice{}}};
    for (int64_t sum = 0; sum < kMostUses; ++sum) {
      for (int64_t a = 0; a <= sum; ++a) {
        const auto from = paid.find({a, sum - a});
        if (from == paid.end()) continue;
        const UnitPrice before = from->second;
        for (const size_t e : {0, 1}) {
          const auto& price = prices_.at(One({0, 0}, e))[first - before.units];
          if (!price.has_value()) continue;
          UnitPrice& most = paid[One({a, sum - a}, e)];
          most.units = std::max(most.units, before.units + price->units);
          most.reserve = std::max(most.reserve, before.reserve + price->reserve);
        }
      }
    }
    return paid;
  }

  static Uses One(Uses uses, size_t event) {
    ++(event == 0 ? uses.first : uses.second);
    return uses;
  }

  const Reference& reference_;
  std::map<Uses, PriceList> prices_;
};

TEST(ResidueVariants, BreaksUsesThatAreMergedAfterTheFact) {
  std::mt19937 random(14);
  Tally tally;
  for (int i = 0; i < FamilyCount(16); ++i) {
    Game game = RandomGame(random, 6, 10, 0);
    game.reference.slack = 1e-8;
    const double scale = std::uniform_real_distribution<double>(0.1, 0.4)(random);
    Pieces pieces;
    while (pieces.events.size() < 2) {
      const Pieces more = PiecesOf(game.reference, {RandomEvent(random, scale)});
      pieces.events.insert(pieces.events.end(), more.events.begin(), more.events.end());
      pieces.pairs.insert(pieces.pairs.end(), more.pairs.begin(), more.pairs.end());
    }
    const MergeGame merge(game.reference, pieces);
    double excess = -1;
    for (const bool reversed : {false, true}) {
      EXPECT_LE(merge.Excess(pieces, Together::kBeforeTheFirst, reversed),
                game.reference.slack + kRounding)
          << "family " << i << ", reference " << Describe(game.reference_event);
      excess = std::max(excess, merge.Excess(pieces, Together::kAfterTheLast, reversed));
    }
    tally.Add(excess, game.reference.slack);
  }
  std::printf("merged after the fact: %d of %d families broken\n", tally.broken, tally.games);
  EXPECT_GT(tally.broken, tally.games / 10);
}

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
