// Uses that are paid together and run later, counts in digits and sessions priced as a whole,
// against the best adversary. residue_adversary_test.cc has the game of single charges.
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

#include "gtest/gtest.h"

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "tests/accounting/filter/event_pricer.h"
#include "tests/accounting/filter/residue_game.h"
#include "tests/accounting/filter/residue_promises.h"

namespace epsledger::accounting::residue_game {
namespace {

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
  EventPricer pricer(reference);
  BlockPrices prices;
  for (const MechanismEvent& event : pieces.events) {
    prices.emplace_back(1);
    for (int64_t count = 1; count <= most; ++count) {
      prices.back().push_back(PricesOf(&pricer, reference.units, event, count, level_of));
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
  EventPricer pricer_;
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
    EventPricer pricer(reference);
    for (int64_t a = 0; a <= kMostUses; ++a) {
      for (int64_t b = 0; a + b <= kMostUses; ++b) {
        Composed uses;
        if (a > 0) uses.events.push_back({pieces.events[0], a});
        if (b > 0) uses.events.push_back({pieces.events[1], b});
        if (a + b > 0) prices_[{a, b}] = PricesOf(&pricer, reference.units, uses, 1, Exactly());
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

}  // namespace
}  // namespace epsledger::accounting::residue_game
