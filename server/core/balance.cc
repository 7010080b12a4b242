#include "server/core/balance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/core/units.h"

namespace epsledger::core {
namespace {

bool IsUnits(const Cell& cell) { return cell.quantity == accounting::CellQuantity::kUnits; }
bool IsReserve(const Cell& cell) { return cell.quantity == accounting::CellQuantity::kReserve; }

int64_t HowManyFitCell(Cost room, Cost spent, Cost unit_cost, int64_t limit) {
  if (spent > room) return 0;
  return room.MinusOrZero(spent).HowMany(unit_cost, limit);
}

// Returns spent / cap rounded up, in [0, 1]. For a cell without room and without spend: 0 if all
// cells must fit (the delta of a pure-epsilon cap), and 1 if any cell is enough.
double SpentShare(const Cell& cell, Cost spent, bool any) {
  if (spent.is_zero() && (!cell.cap.is_zero() || !any)) return 0;
  const double cap = cell.cap.ToDoubleDown();
  const double amount = spent.ToDoubleUp();
  if (!(amount < cap)) return 1;
  return std::min(1.0, std::nextafter(amount / cap, 2.0));
}

}  // namespace

CellFilter CellFilter::From(const accounting::Filter& filter) {
  CellFilter result;
  result.rule = filter.rule;
  result.theorem = filter.theorem;
  for (const accounting::FilterCell& cell : filter.cells) {
    result.cells.push_back(
        {.quantity = cell.quantity, .order = cell.order, .cap = Cost::RoundDown(cell.cap)});
  }
  return result;
}

Cost RoomOf(const CellFilter& filter, size_t cell) {
  const Cost cap = filter.cells[cell].cap;
  if (filter.rule != accounting::FilterRule::kAllCellsWithTolerance || cap.is_zero()) return cap;
  const Cost room = cap + Cost::FromUnits(std::max<Cost::Units>(1, cap.units() >> 32));
  return room.is_infinite() ? cap : room;
}

void Balance::FixReference(std::shared_ptr<const UnitReference> reference) {
  CellFilter filter = *filter_;
  const size_t units = *UnitsCellOf(filter);
  filter.cells[units].cap = CostOfUnits(reference->reference.units);
  filter.cells[units + 1].cap = Cost::RoundDown(reference->reference.reserve);
  filter_ = std::make_shared<const CellFilter>(std::move(filter));
  reference_ = std::move(reference);
}

bool Balance::CanFixReference() const {
  const std::optional<size_t> units = UnitsCellOf(*filter_);
  return units.has_value() && reference_ == nullptr && spent_[*units].is_zero();
}

bool Balance::CanTakeReference(int64_t units) const {
  const std::optional<size_t> cell = UnitsCellOf(*filter_);
  return CanFixReference() || (cell.has_value() && reference_ == nullptr &&
                               filter_->cells[*cell].cap == CostOfUnits(units));
}

bool Balance::FitsCell(size_t cell, Cost cost) const {
  return spent_[cell] + cost <= RoomOf(*filter_, cell);
}

bool Balance::Fits(const std::vector<Cost>& costs) const {
  const std::vector<Cell>& cells = filter_->cells;
  // A charge is accepted while one of several orders has room: union bound,
  // accounting/filter/README.md "Some order of a grid".
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (any && IsReserve(cells[i])) continue;  // checked with the cell before it
    const bool fits =
        FitsCell(i, costs[i]) &&
        !(any && i + 1 < cells.size() && IsReserve(cells[i + 1]) && !FitsCell(i + 1, costs[i + 1]));
    if (fits == any) return any;
  }
  return !any && !cells.empty();
}

int64_t Balance::HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const {
  const std::vector<Cell>& cells = filter_->cells;
  if (cells.empty()) return 0;
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  int64_t result = any ? 0 : limit;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (IsUnits(cells[i]) || IsReserve(cells[i])) continue;  // Gate counts these
    const int64_t fit = HowManyFitCell(RoomOf(*filter_, i), spent_[i], unit_costs[i], limit);
    result = any ? std::max(result, fit) : std::min(result, fit);
  }
  return result;
}

void Balance::Add(const std::vector<Cost>& costs) {
  for (size_t i = 0; i < spent_.size(); ++i) spent_[i] = spent_[i] + costs[i];
}

double Balance::SpentFraction() const {
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  if (spent_.empty()) return any ? 1 : 0;
  const size_t cell = FractionCell();
  return SpentShare(filter_->cells[cell], spent_[cell], any);
}

double Balance::FractionOf(const std::vector<Cost>& part) const {
  if (spent_.empty()) return 0;
  const size_t cell = FractionCell();
  const Cost amount = std::min(part[cell], spent_[cell]);
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  return amount.is_zero() ? 0 : SpentShare(filter_->cells[cell], amount, any);
}

size_t Balance::FractionCell() const {
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  size_t best = 0;
  double best_share = 0;
  for (size_t i = 0; i < spent_.size(); ++i) {
    if (any && IsReserve(filter_->cells[i])) continue;
    const double share = SpentShare(filter_->cells[i], spent_[i], any);
    if (i > 0 && (any ? share >= best_share : share <= best_share)) continue;
    best = i;
    best_share = share;
  }
  return best;
}

size_t Balance::LimitingCell(const std::vector<Cost>& costs) const {
  const std::vector<Cell>& cells = filter_->cells;
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  size_t best = cells.size();
  double best_share = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (any && IsReserve(cells[i])) continue;
    if (FitsCell(i, costs[i])) continue;  // this cell does not limit
    const double cap = cells[i].cap.ToDoubleDown();
    const double share = cap > 0 ? (spent_[i] + costs[i]).ToDoubleUp() / cap
                                 : std::numeric_limits<double>::infinity();
    if (best == cells.size() || (any ? share < best_share : share > best_share)) {
      best = i;
      best_share = share;
    }
  }
  return best == cells.size() ? 0 : best;
}

}  // namespace epsledger::core
