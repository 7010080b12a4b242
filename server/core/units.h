#ifndef EPSLEDGER_SERVER_CORE_UNITS_H_
#define EPSLEDGER_SERVER_CORE_UNITS_H_

// Charges in units of a reference event. Their costs depend on how many units are left. The theorem
// is in accounting/filter/README.md.

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

// The reference of a cell of units. Immutable; shared by everything that prices under it.
struct UnitReference {
  accounting::MechanismEvent event;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  accounting::Reference reference;
  // If the reference was computed for a cap in units: the curve that the cap will promise.
  std::vector<TradeOffCurveCap::Point> guarantee = {};
};

// Proved: `count` uses paid together cost `units` and `reserve` while at least `level`
// units are left.
struct ProvedUnitPrice {
  int64_t count = 0;
  int64_t level = 0;
  int64_t units = 0;
  double reserve = 0;
};

// Conversions between whole units and the amount in a cell of units.
inline Cost CostOfUnits(int64_t units) {
  return Cost::FromUnits(static_cast<Cost::Units>(units) << 64);
}
// Returns 0 for an infinite cost.
inline int64_t WholeUnits(Cost cost) {
  return cost.is_infinite() ? 0 : static_cast<int64_t>(cost.units() >> 64);
}

// Returns the index of the cell of units in a filter; the next cell is its reserve. Nothing if the
// filter has none.
std::optional<size_t> UnitsCellOf(const CellFilter& filter);

// The prices of one event at one filter, as the ledger holds them.
//
// A charge of n uses costs the cheaper of two: the price of a block of n, or n single uses one
// after the other, each at the level that the previous one leaves. Never change this rule: stored
// ledgers were charged by it.
class UnitPrices {
 public:
  struct Charge {
    int64_t units = 0;
    double reserve = 0;
  };

  void Add(const ProvedUnitPrice& price) { prices_.push_back(price); }
  const std::vector<ProvedUnitPrice>& all() const { return prices_; }

  // Returns the cost of `count` uses while `left` units are left; nothing if the known prices do
  // not cover them.
  std::optional<Charge> Of(int64_t count, int64_t left) const;
  // Returns the largest number of single uses that `left` units pay for at the known prices, at
  // most `limit`.
  int64_t HowMany(int64_t left, int64_t limit) const;
  // The number of single uses that are paid before a price is missing, and the units left then.
  struct Singles {
    int64_t count = 0;
    Charge paid;
    int64_t left = 0;
  };
  Singles PaySingles(int64_t count, int64_t left) const;
  // Returns the lowest number of units for `count` uses at the known prices, as a block or as
  // single uses, however many units are left; 0 if no such price is known.
  int64_t Asked(int64_t count) const;
  // True if no unit is left, or if a price of a block of `count` is known that holds at `left` and
  // was computed for LevelAtMost(units, left) or above, or is one unit. `units`: those of the
  // reference.
  bool Knows(int64_t count, int64_t units, int64_t left) const;

 private:
  // Returns the cheapest price of a block of `count` that holds at `left`; nullptr if none does.
  const ProvedUnitPrice* Best(int64_t count, int64_t left) const;

  std::vector<ProvedUnitPrice> prices_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_UNITS_H_
