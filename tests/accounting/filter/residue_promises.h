#ifndef EPSLEDGER_TESTS_ACCOUNTING_FILTER_RESIDUE_PROMISES_H_
#define EPSLEDGER_TESTS_ACCOUNTING_FILTER_RESIDUE_PROMISES_H_

// The promises that the games against units of a reference check: the promise of all units on a
// board, and prices by level.

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

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/filter/loss_pair.h"
#include "accounting/filter/residue.h"
#include "tests/accounting/filter/event_pricer.h"
#include "tests/accounting/filter/residue_game.h"

namespace epsledger::accounting::residue_game {

// A tolerance, because the games compute in doubles.
inline constexpr double kRounding = 1e-12;

inline LevelRule Exactly() {
  return [](int64_t left) { return left; };
}

// Rounds levels down to a table, as the ledger does. LevelAtMost keeps all levels below 80 units
// apart, so small games use a coarser table.
inline LevelRule Tabulated(int64_t units) {
  return [units](int64_t left) {
    int64_t level = units;
    while (level > left) level -= std::max<int64_t>(1, level / 2);
    return level;
  };
}

inline LevelRule OneOrTheOther(int family, int64_t units) {
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

inline Pieces PiecesOf(const Reference& reference, const std::vector<MechanismEvent>& events) {
  Pieces pieces;
  for (const MechanismEvent& event : events) {
    std::optional<LossPair> pair = PlayedPair(reference, event);
    if (!pair.has_value()) continue;
    pieces.events.push_back(event);
    pieces.pairs.push_back(*std::move(pair));
  }
  return pieces;
}

// The promise of all units of a reference in one order.
struct Promise {
  const Reference* reference;
  bool reversed;
};

// A board that holds the promises, and their profiles on it.
struct Table {
  Board board;
  std::vector<Value> promised;
};
inline Table TableFor(const std::vector<Promise>& promises) {
  for (double largest = 8;; largest *= 1.5) {
    Table table{Board(promises[0].reference->pair.interval, largest), {}};
    for (const Promise& promise : promises) {
      std::optional<Value> profile = table.board.Promised(*promise.reference, promise.reversed);
      if (profile.has_value()) table.promised.push_back(*std::move(profile));
    }
    if (table.promised.size() == promises.size()) return table;
  }
}

// Returns the prices of each event, from the prices of single uses.
inline std::vector<PriceList> SinglePrices(const Reference& reference, const Pieces& pieces,
                                           const LevelRule& level_of) {
  EventPricer pricer(reference);
  std::vector<PriceList> prices;
  for (const MechanismEvent& event : pieces.events) {
    prices.push_back(PricesOf(&pricer, reference.units, event, 1, level_of));
  }
  return prices;
}

// Returns how many prices at the first level belong to events other than the reference.
inline int Bought(const std::vector<PriceList>& prices) {
  int bought = 0;
  for (size_t e = 1; e < prices.size(); ++e) bought += prices[e].back().has_value() ? 1 : 0;
  return bought;
}

// Lowers every price above one unit by one unit. A useful adversary breaks the promise then.
inline PriceList OneUnitLower(PriceList prices) {
  for (std::optional<UnitPrice>& price : prices) {
    if (price.has_value() && price->units > 1) --price->units;
  }
  return prices;
}

inline std::vector<PriceList> OneUnitLower(std::vector<PriceList> prices) {
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

}  // namespace epsledger::accounting::residue_game

#endif  // EPSLEDGER_TESTS_ACCOUNTING_FILTER_RESIDUE_PROMISES_H_
