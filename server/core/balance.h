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

// A filter whose caps are integers. It is fixed when the cap is created, so a later version of the
// library that chooses other cells does not change it.
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

  // Rounds the caps down.
  static CellFilter From(const accounting::Filter& filter);
};

struct UnitReference;

// Returns the largest amount that a filter allows in a cell: the cell's cap, plus a tolerance of
// max(cap 2^-32, 2^-64) if the rule has one and the cap is not 0.
Cost RoomOf(const CellFilter& filter, size_t cell);

// The amounts that a filter has let through.
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

  // The reference of the cell of units; nullptr before it is fixed, and for filters without such a
  // cell.
  const std::shared_ptr<const UnitReference>& reference() const { return reference_; }
  // Fixes the reference: the cells of units and reserve get their room. REQUIRES: the filter has
  // such cells and CanFixReference().
  void FixReference(std::shared_ptr<const UnitReference> reference);
  // True while the filter has a cell of units without a reference and nothing was charged.
  bool CanFixReference() const;
  // True if CanFixReference(), or if the filter belongs to a successor that was created with
  // `units` units, whose spent amount is what it carries.
  bool CanTakeReference(int64_t units) const;

  // True if a charge of `costs` (one per cell, already multiplied by the count) keeps the
  // guarantee. REQUIRES: costs.size() == filter().cells.size().
  bool Fits(const std::vector<Cost>& costs) const;

  // Returns how many single uses fit if each costs `unit_costs`, at most `limit`.
  int64_t HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const;

  // Counts a charge. The caller has checked Fits on this same object (I14); a replay of a stored
  // ledger counts what was accepted originally.
  void Add(const std::vector<Cost>& costs);

  // Returns the spent share of the cap, rounded up, in [0, 1]: that of the fullest cell if all
  // cells must fit, that of the emptiest under kAnyCell.
  double SpentFraction() const;
  // Returns the share of the cap of the same cell that `part` of the spent amounts makes up;
  // rounded up, in [0, 1].
  double FractionOf(const std::vector<Cost>& part) const;

  // Returns the cell to show for a charge that does not fit, measured by overfill as a share of the
  // cap: the cell that it would overfill most if all must fit, the cell that it would overfill
  // least under kAnyCell.
  size_t LimitingCell(const std::vector<Cost>& costs) const;

 private:
  bool FitsCell(size_t cell, Cost cost) const;
  // Returns the cell of SpentFraction. REQUIRES: the filter has a cell.
  size_t FractionCell() const;

  std::shared_ptr<const CellFilter> filter_;
  std::shared_ptr<const UnitReference> reference_;
  std::vector<Cost> spent_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_BALANCE_H_
