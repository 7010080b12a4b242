#include "server/core/gate.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace epsledger::core {
namespace {

// Returns b - a for b >= a; Infinite() if b is infinite.
Cost Growth(Cost a, Cost b) { return b.is_infinite() ? Cost::Infinite() : b.MinusOrZero(a); }

}  // namespace

void PartitionTotal::Update(const std::string& child, Cost amount) {
  if (child == first_.id) {
    first_.amount = amount;
  } else if (child == second_.id) {
    second_.amount = amount;
  } else if (amount > second_.amount) {
    second_ = {child, amount};
  }
  if (second_.amount > first_.amount) std::swap(first_, second_);
}

void PartitionTotal::Rename(const std::string& child, const std::string& successor) {
  if (first_.id == child) first_.id = successor;
  if (second_.id == child) second_.id = successor;
}

Cost PartitionTotal::Total(bool two_largest) const {
  return two_largest ? first_.amount + second_.amount : first_.amount;
}

std::vector<Cost> PartitionStep::Increment(const std::vector<Cost>& costs) const {
  return PartitionStep(*this).Take(costs);
}

std::vector<Cost> PartitionStep::Take(const std::vector<Cost>& costs) {
  AddInPlace(costs, &child_spent);
  return UpdateTotals();
}

std::vector<Cost> PartitionStep::UpdateTotals() {
  std::vector<Cost> growth;
  growth.reserve(totals.size());
  for (size_t i = 0; i < totals.size(); ++i) {
    const Cost before = totals[i].Total(two_largest);
    totals[i].Update(child_id, child_spent[i]);
    growth.push_back(Growth(before, totals[i].Total(two_largest)));
  }
  return growth;
}

bool Gate::IsCrossed() const {
  return std::any_of(partitions.begin(), partitions.end(),
                     [](const PartitionStep& step) { return step.two_largest; });
}

int64_t Gate::UnitsLeft() const {
  const size_t units = *UnitsCellOf(balance.filter());
  const Cost spent = balance.spent()[units];
  if (balance.reference() == nullptr || spent.is_infinite()) return 0;
  int64_t left = WholeUnits(balance.filter().cells[units].cap) - WholeUnits(spent);
  for (const PartitionStep& step : partitions) {
    // A replaced record may leave one part and enter another; prices are not proved for that.
    if (step.two_largest) return 0;
    left += WholeUnits(step.totals[units].Total(false)) - WholeUnits(step.child_spent[units]);
  }
  return std::max<int64_t>(left, 0);
}

std::vector<Cost> Gate::CostOf(const std::vector<Cost>& unit_costs, const UnitPrices& prices,
                               int64_t count) const {
  std::vector<Cost> costs = Times(unit_costs, count);
  const std::optional<size_t> units = UnitsCellOf(balance.filter());
  if (!units.has_value()) return costs;
  const std::optional<UnitPrices::Charge> charge = prices.Of(count, UnitsLeft());
  if (!charge.has_value()) return costs;  // infinite
  const Cost reserve = Cost::RoundUp(charge->reserve);
  if (balance.spent()[*units + 1] + reserve > balance.filter().cells[*units + 1].cap) return costs;
  costs[*units] = CostOfUnits(charge->units);
  costs[*units + 1] = reserve;
  return costs;
}

int64_t Gate::HowManyFit(const std::vector<Cost>& unit_costs, const UnitPrices& prices,
                         int64_t limit) const {
  const std::optional<size_t> units = UnitsCellOf(balance.filter());
  // What costs no units needs no price.
  if (!units.has_value() || unit_costs[*units].is_zero()) return HowManyFit(unit_costs, limit);
  const bool any = balance.filter().rule == accounting::FilterRule::kAnyCell;
  int64_t result = prices.HowMany(UnitsLeft(), limit);
  if (result > 0 && !Fits(CostOf(unit_costs, prices, result))) {
    int64_t too_many = result;
    for (result = 0; too_many - result > 1;) {
      const int64_t middle = result + (too_many - result) / 2;
      (Fits(CostOf(unit_costs, prices, middle)) ? result : too_many) = middle;
    }
  }
  return any ? std::max(result, HowManyFit(unit_costs, limit)) : result;
}

bool Gate::Fits(const std::vector<Cost>& costs) const {
  return partitions.empty() ? balance.Fits(costs) : balance.Fits(Increment(costs));
}

int64_t Gate::HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const {
  if (partitions.empty()) return balance.HowManyFit(unit_costs, limit);
  // Growth is not linear in the count, but it never falls.
  if (Fits(Times(unit_costs, limit))) return limit;
  int64_t fits = 0;
  int64_t too_many = limit;
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (Fits(Times(unit_costs, middle)) ? fits : too_many) = middle;
  }
  return fits;
}

std::vector<Cost> Gate::Increment(const std::vector<Cost>& costs) const {
  std::vector<Cost> increment = costs;
  for (const PartitionStep& step : partitions) increment = step.Increment(increment);
  return increment;
}

void Gate::Take(const std::vector<Cost>& costs) {
  if (partitions.empty()) return balance.Add(costs);
  std::vector<Cost> increment = costs;
  for (PartitionStep& step : partitions) increment = step.Take(increment);
  balance.Add(increment);
}

void AddInPlace(const std::vector<Cost>& costs, std::vector<Cost>* sum) {
  for (size_t i = 0; i < sum->size(); ++i) (*sum)[i] = (*sum)[i] + costs[i];
}

std::vector<Cost> Times(const std::vector<Cost>& unit_costs, int64_t count) {
  std::vector<Cost> costs;
  costs.reserve(unit_costs.size());
  for (Cost cost : unit_costs) costs.push_back(cost.Times(count));
  return costs;
}

}  // namespace epsledger::core
