#ifndef EPSLEDGER_SERVER_CORE_GATE_H_
#define EPSLEDGER_SERVER_CORE_GATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/core/balance.h"
#include "server/core/cap.h"
#include "server/core/cost.h"
#include "server/core/units.h"

namespace epsledger::core {

// The two largest amounts that children of a partition have spent in one cell. The partition's own
// spend is the largest amount, or, where a neighbor changes two children (replace-one), the sum of
// the two largest.
class PartitionTotal {
 public:
  // Records that `child` now has spent `amount`. REQUIRES: amounts of one child never decrease.
  void Update(const std::string& child, Cost amount);
  // Puts `successor` in the place of `child`, with the same amount.
  void Rename(const std::string& child, const std::string& successor);
  Cost Total(bool two_largest) const;

 private:
  struct Child {
    std::string id;
    Cost amount;
  };
  Child first_;
  Child second_;
};

// A charge on its way up through a partition: the amounts that its child has spent there so far,
// and the partition's totals, one per cell of the filter above.
struct PartitionStep {
  std::string child_id;
  bool two_largest = false;
  std::vector<Cost> child_spent;
  std::vector<PartitionTotal> totals;

  // Returns the growth of the totals if the child spends `costs` more.
  std::vector<Cost> Increment(const std::vector<Cost>& costs) const;
  // Spends `costs` and returns the growth of the totals.
  std::vector<Cost> Take(const std::vector<Cost>& costs);
  // Updates the totals to child_spent, which has grown, and returns their growth.
  std::vector<Cost> UpdateTotals();
};

// One filter that gates a charge, with a copy of its balance to decide on.
struct Gate {
  std::string budget_id;   // if the filter is that of a budget's cap
  std::string session_id;  // if it is that of a session's own cap
  Balance balance;
  const Cap* cap = nullptr;  // of the ledger's state
  // The partitions between the session and the filter, from the bottom up. Usually none.
  std::vector<PartitionStep> partitions = {};

  // True if a replaced record may leave one part below this filter and enter another. A charge then
  // costs more than within one part.
  bool IsCrossed() const;
  // Returns the units left for the people whose charge this is: below a partition, only the units
  // that their own part has used count. 0 where nothing can be paid in units any more, or no units
  // are known to be left. REQUIRES: balance.filter() has a cell of units.
  int64_t UnitsLeft() const;
  // Returns the cost of `count` uses: `count` times `unit_costs`, and, in the cells of units, the
  // price in `prices` at the units left. The cost there is infinite if the price is missing or the
  // reserve does not suffice.
  std::vector<Cost> CostOf(const std::vector<Cost>& unit_costs, const UnitPrices& prices,
                           int64_t count) const;
  // As HowManyFit below, with the known prices: more uses may fit where prices are missing.
  int64_t HowManyFit(const std::vector<Cost>& unit_costs, const UnitPrices& prices,
                     int64_t limit) const;

  // True if a charge of `costs` keeps the guarantee.
  bool Fits(const std::vector<Cost>& costs) const;
  // Returns how many single uses fit if each costs `unit_costs`, at most `limit`.
  int64_t HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const;
  // Returns the amounts that a charge of `costs` adds to the balance: less than `costs` where
  // another part of a partition has spent more.
  std::vector<Cost> Increment(const std::vector<Cost>& costs) const;
  // Counts a charge that fits.
  void Take(const std::vector<Cost>& costs);
};

// sum[i] += costs[i]. REQUIRES: both have the same size.
void AddInPlace(const std::vector<Cost>& costs, std::vector<Cost>* sum);

// Returns the cost of `count` uses that cost `unit_costs` each.
std::vector<Cost> Times(const std::vector<Cost>& unit_costs, int64_t count);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_GATE_H_
