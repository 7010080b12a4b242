#ifndef EPSLEDGER_SERVER_CORE_UNITS_H_
#define EPSLEDGER_SERVER_CORE_UNITS_H_

// Charges in units of a reference event: what they cost depends on how many units are left. The
// theorem is in accounting/filter/README.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/filter/residue.h"
#include "server/core/balance.h"
#include "server/core/cap.h"
#include "server/core/cost.h"

namespace epsledger::core {

// What a cell of units counts in. Immutable; shared by all who price under it.
struct UnitReference {
  accounting::MechanismEvent event;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  accounting::Reference reference;
  // Where it was computed for a cap in units: the curve that the cap is to promise.
  std::vector<TradeOffCurveCap::Point> guarantee = {};
};

// A proved price: `count` uses paid together cost `units` and `reserve` while at least `level`
// units are left.
struct UnitPrice {
  int64_t count = 0;
  int64_t level = 0;
  int64_t units = 0;
  double reserve = 0;
};

// The whole units in an amount of a cell of units, and back.
inline Cost CostOfUnits(int64_t units) {
  return Cost::FromUnits(static_cast<Cost::Units>(units) << 64);
}
// 0 of what is infinite.
inline int64_t WholeUnits(Cost cost) {
  return cost.is_infinite() ? 0 : static_cast<int64_t>(cost.units() >> 64);
}

// The place of the cell of units in a filter; the cell after it is its reserve. Nothing if the
// filter has none.
std::optional<size_t> UnitsCellOf(const CellFilter& filter);

// The prices of one event at one filter, as they stand in the ledger.
//
// A charge of n uses costs what the price of a block of n says, or n single uses one after the
// other, each at the level that the one before leaves: the cheaper of the two. The rule is stored
// with every ledger that was charged by it: never change it.
class UnitPrices {
 public:
  struct Charge {
    int64_t units = 0;
    double reserve = 0;
  };

  void Add(const UnitPrice& price) { prices_.push_back(price); }
  const std::vector<UnitPrice>& all() const { return prices_; }

  // What `count` uses cost while `left` units are left; nothing if the prices that are here do not
  // pay for it.
  std::optional<Charge> Of(int64_t count, int64_t left) const;
  // The most single uses that `left` units pay for by the prices that are here, at most `limit`.
  int64_t HowMany(int64_t left, int64_t limit) const;
  // The number of single uses that are paid before a price is missing, and what is left then.
  struct Singles {
    int64_t count = 0;
    Charge paid;
    int64_t left = 0;
  };
  Singles PaySingles(int64_t count, int64_t left) const;
  // The cheapest price of a block of `count` that is here, whatever is left; 0 if there is none.
  int64_t Asked(int64_t count) const;
  // True if there is a price of such a block for the level of `left` or above it.
  bool Knows(int64_t count, int64_t units, int64_t left) const;

 private:
  // The cheapest price of a block of `count` that holds at `left`.
  const UnitPrice* Best(int64_t count, int64_t left) const;

  std::vector<UnitPrice> prices_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_UNITS_H_
