#include "server/core/balance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace epsledger::core {
namespace {

bool FitsCell(const Cell& cell, Cost spent, Cost cost) { return spent + cost <= cell.cap; }

int64_t HowManyFitCell(const Cell& cell, Cost spent, Cost unit_cost, int64_t limit) {
  if (spent > cell.cap) return 0;
  return cell.cap.MinusOrZero(spent).HowMany(unit_cost, limit);
}

// spent / cap rounded up, in [0, 1]. Of a cell without room nothing is spent while charges need not
// touch it (the delta of a pure-epsilon cap), and all of it where it is one way among others.
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

bool Balance::Fits(const std::vector<Cost>& costs) const {
  const std::vector<Cell>& cells = filter_->cells;
  // Accepting while one order of several has room: union bound, accounting/README.md "Filters".
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (FitsCell(cells[i], spent_[i], costs[i]) == any) return any;
  }
  return !any && !cells.empty();
}

int64_t Balance::HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const {
  const std::vector<Cell>& cells = filter_->cells;
  if (cells.empty()) return 0;
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  int64_t result = any ? 0 : limit;
  for (size_t i = 0; i < cells.size(); ++i) {
    const int64_t fit = HowManyFitCell(cells[i], spent_[i], unit_costs[i], limit);
    result = any ? std::max(result, fit) : std::min(result, fit);
  }
  return result;
}

void Balance::Add(const std::vector<Cost>& costs) {
  for (size_t i = 0; i < spent_.size(); ++i) spent_[i] = spent_[i] + costs[i];
}

double Balance::SpentFraction() const {
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  double fraction = any ? 1 : 0;
  for (size_t i = 0; i < spent_.size(); ++i) {
    const double of_cell = SpentShare(filter_->cells[i], spent_[i], any);
    fraction = any ? std::min(fraction, of_cell) : std::max(fraction, of_cell);
  }
  return fraction;
}

size_t Balance::LimitingCell(const std::vector<Cost>& costs) const {
  const std::vector<Cell>& cells = filter_->cells;
  const bool any = filter_->rule == accounting::FilterRule::kAnyCell;
  size_t best = cells.size();
  double best_share = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (FitsCell(cells[i], spent_[i], costs[i])) continue;  // it is not this one
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
