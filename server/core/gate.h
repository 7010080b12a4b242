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

// What the children of a partition have spent in one cell, as far as the partition's own spend
// needs it: the largest amount, or, where a neighbor changes two of them (replace-one), the sum of
// the two largest.
class PartitionTotal {
 public:
  // `child` now has spent `amount`. REQUIRES: amounts of one child never decrease.
  void Update(const std::string& child, Cost amount);
  // `successor` takes the place of `child`, with the amount that it has.
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

// A charge on its way up through a partition: what its child has spent there so far, and the
// partition's totals, one per cell of the filter above.
struct PartitionStep {
  std::string child_id;
  bool two_largest = false;
  std::vector<Cost> child_spent;
  std::vector<PartitionTotal> totals;

  // By how much the totals grow if the child spends `costs` more.
  std::vector<Cost> Increment(const std::vector<Cost>& costs) const;
  // Spends it and returns that.
  std::vector<Cost> Take(const std::vector<Cost>& costs);
  // Brings the totals up to child_spent, which has grown, and returns by how much they grew.
  std::vector<Cost> UpdateTotals();
};

// One filter that gates a charge, with a copy of its balance to decide on.
struct Gate {
  std::string budget_id;   // of a budget's cap, or
  std::string session_id;  // of a session's own
  Balance balance;
  const Cap* cap = nullptr;  // of the ledger's state
  // The partitions between the session and the filter, from below. Most often none.
  std::vector<PartitionStep> partitions = {};

  // Whether a record that is replaced may leave one part below this filter and enter another: what
  // a charge costs then is more than its cost within a part.
  bool IsCrossed() const;
  // The units that are left for the people whose charge this is: below a partition, what their own
  // part has used. 0 where nothing can be paid in units any more, or none is known to be left.
  // REQUIRES: balance.filter() has a cell of units.
  int64_t UnitsLeft() const;
  // What `count` uses cost: `unit_costs` that many times, and, in the cells of units, what `prices`
  // say at what is left. A price that is not there, or a reserve that does not suffice, is
  // infinite.
  std::vector<Cost> CostOf(const std::vector<Cost>& unit_costs, const UnitPrices& prices,
                           int64_t count) const;
  // As HowManyFit below, by the prices that are known: more may fit where prices are missing.
  int64_t HowManyFit(const std::vector<Cost>& unit_costs, const UnitPrices& prices,
                     int64_t limit) const;

  // True if a charge of `costs` keeps the guarantee.
  bool Fits(const std::vector<Cost>& costs) const;
  // How many single uses that cost `unit_costs` each fit, at most `limit`.
  int64_t HowManyFit(const std::vector<Cost>& unit_costs, int64_t limit) const;
  // What `costs` adds to the balance: less than `costs` where another part of a partition has spent
  // more.
  std::vector<Cost> Increment(const std::vector<Cost>& costs) const;
  // Counts a charge that fits.
  void Take(const std::vector<Cost>& costs);
};

// sum[i] += costs[i]. REQUIRES: both of one size.
void AddInPlace(const std::vector<Cost>& costs, std::vector<Cost>* sum);

// `count` uses that cost `unit_costs` each.
std::vector<Cost> Times(const std::vector<Cost>& unit_costs, int64_t count);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_GATE_H_
