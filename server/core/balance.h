#ifndef EPSLEDGER_SERVER_CORE_BALANCE_H_
#define EPSLEDGER_SERVER_CORE_BALANCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accounting/filter/filter.h"
#include "server/core/cost.h"

namespace epsledger::core {

// One quantity of a filter with its cap, as the ledger keeps it.
struct Cell {
  accounting::CellQuantity quantity = accounting::CellQuantity::kEpsilon;
  double order = 0;  // with kRenyi
  Cost cap;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("quantity", s.quantity);
    v("order", s.order);
    v("cap", s.cap);
  }
};

// A filter whose caps are integers, fixed when the cap is created: a later version of the library
// that would choose other cells changes nothing here.
struct CellFilter {
  accounting::FilterRule rule = accounting::FilterRule::kAllCells;
  std::vector<Cell> cells;
  std::string theorem;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("rule", s.rule);
    v("cells", s.cells);
    v("theorem", s.theorem);
  }

  // Caps rounded down.
  static CellFilter From(const accounting::Filter& filter);
};

struct UnitReference;

// The most that a filter lets into a cell: the cell's cap, with a tolerance of max(cap 2^-32,
// 2^-64) more where the rule has one and the cap is not 0.
Cost RoomOf(const CellFilter& filter, size_t cell);

// What a filter has let through.
//
// Invariants: spent.size() == filter.cells.size(); spent never decreases; under kAllCells no cell
// is above its cap, under kAllCellsWithTolerance none by more than the tolerance, under kAnyCell at
// least one is not.
//
// Copies are cheap: the filter is shared.
class Balance {
 public:
  explicit Balance(CellFilter filter)
      : filter_(std::make_shared<const CellFilter>(std::move(filter))),
        spent_(filter_->cells.size()) {}

  const CellFilter& filter() const { return *filter_; }
  const std::vector<Cost>& spent() const { return spent_; }

  // What its cell of units counts in; nullptr before it is fixed, and of filters without one.
  const std::shared_ptr<const UnitReference>& reference() const { return reference_; }
  // Fixes it: the cells of units and reserve get their room. REQUIRES: the filter has such cells
  // and CanFixReference().
  void FixReference(std::shared_ptr<const UnitReference> reference);
  // True while the filter has a cell of units without a reference, and nothing was charged.
  bool CanFixReference() const;
  // The same, or the filter is a successor's, which was given these units and counts what it
  // carries.
  bool CanTakeReference(int64_t units) const;

  // True if a charge of `costs` (one per cell, the count already in them) keeps the guarantee.
  // REQUIRES: costs.size() == filter().cells.size().
  bool Fits(const std::vector<Cost>& costs) const;

  // How many single uses that cost `unit_costs` each fit, at most `limit`.
  int64_t HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const;

  // Counts a charge. The caller has checked Fits on this very object (I14); replaying a stored
  // ledger counts what was accepted then.
  void Add(const std::vector<Cost>& costs);

  // Share of the cap that is spent, rounded up, in [0, 1]: of the fullest cell where all must fit,
  // of the emptiest under kAnyCell.
  double SpentFraction() const;
  // The share, of the same cell, that `part` of what is spent makes; rounded up, in [0, 1].
  double FractionOf(const std::vector<Cost>& part) const;

  // The cell to show for a charge that does not fit: where all must fit the one that it would
  // overfill most, under kAnyCell the one that it would overfill least, as a share of the cap.
  size_t LimitingCell(const std::vector<Cost>& costs) const;

 private:
  bool FitsCell(size_t cell, Cost cost) const;
  // The cell of SpentFraction. REQUIRES: there is one.
  size_t FractionCell() const;

  std::shared_ptr<const CellFilter> filter_;
  std::shared_ptr<const UnitReference> reference_;
  std::vector<Cost> spent_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_BALANCE_H_
