#ifndef EPSLEDGER_ACCOUNTING_FILTER_FILTER_H_
#define EPSLEDGER_ACCOUNTING_FILTER_FILTER_H_

// Privacy filters: stopping rules for histories in which every event may depend on the outputs of
// the earlier ones. A filter is a few cells; a cell counts one quantity that adds up exactly. The
// ledger keeps the counts as integers (server/core). This file defines what a cell counts, up to
// which cap, and by which theorem stopping at the cap gives the promised guarantee.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"

namespace epsledger::accounting {

// The quantity that a cell adds up. The numbers are stored in ledgers: never renumber.
enum class CellQuantity : uint8_t {
  kEpsilon = 1,         // sum of epsilon_i
  kDelta = 2,           // sum of delta_i
  kEpsilonSquared = 3,  // sum of epsilon_i^2
  kRho = 4,             // sum of rho_i (zCDP with xi = 0)
  kMuSquared = 5,       // sum of mu_i^2 (plain Gaussian events only)
  kRenyi = 6,           // sum of D_order
  kPlanCount = 7,       // plans; each single plan must meet the cap whole
  kNoGuarantee = 8,     // nothing: for a budget that promises nothing
  kUnits = 9,           // units of a reference event (residue.h); set when the reference is fixed
  kReserve = 10,        // delta that prices in units take from Reference::reserve
};

struct FilterCell {
  CellQuantity quantity = CellQuantity::kEpsilon;
  // The Renyi order; 0 for every other quantity.
  double order = 0;
  // The largest allowed sum, rounded down. In [0, inf).
  double cap = 0;
};

enum class FilterRule : uint8_t {
  // A charge fits if it fits in every cell.
  kAllCells = 1,
  // A charge fits if it fits in at least one cell. Every cell counts every accepted charge. After a
  // cell could not fit an accepted charge, no later charge fits in it. A kReserve cell belongs to
  // the kUnits cell before it: a charge fits both or neither.
  kAnyCell = 2,
  // As kAllCells, but a cell accepts 2^-32 of its cap beyond the cap (2^-64 at least), so that
  // decimals that add up to the cap on paper fit. The guarantee is that of the cap enlarged by this
  // amount. A cap of 0 stays 0.
  kAllCellsWithTolerance = 3,
};

struct Filter {
  FilterRule rule = FilterRule::kAllCells;
  std::vector<FilterCell> cells;
  // The reason why stopping by `rule` gives the cap's guarantee.
  std::string theorem;
};

// The filter that keeps a cap in (epsilon, delta). The numbers are stored in ledgers: never
// renumber.
enum class ApproximateDpFilter : uint8_t {
  // Renyi at a fixed grid of orders, delta split evenly among them; a charge fits if one order
  // still has room.
  kRenyiOrders = 1,
  // Renyi at one order fixed in advance.
  kRenyiOneOrder = 2,
  // sum eps_i <= epsilon and sum delta_i <= delta.
  kBasic = 3,
  // The advanced-composition filter: sqrt(2 log(1/d') V) + V/2 <= epsilon, V = sum eps_i^2, and
  // sum delta_i <= delta - d', with d' = delta / 2.
  kAdvanced = 4,
  // rho-zCDP converted at the best order.
  kZcdp = 5,
  // Units of one reference event: as tight as privacy loss distributions where charges are like the
  // reference.
  kResidue = 6,
  // kResidue with .92 of delta, mu-GDP and kRenyiOrders with .04 each: a charge fits while one of
  // them can pay. Suits DP-SGD whose parameters may still change.
  kPortfolio = 7,
};

// The share of a cap's delta that the units of its reference may take; 0 for filters without units.
double DeltaOfUnits(ApproximateDpFilter kind, double delta);

// Each function returns a filter; every adaptive history that passes the filter satisfies the named
// guarantee. Caps are rounded down. INVALID_ARGUMENT for a number outside the stated domain, with
// field names "epsilon", "delta", "rho", "mu", "order", "divergence" prefixed by `path`.
//
// epsilon-DP. epsilon in (0, inf).
absl::StatusOr<Filter> PureDpFilter(double epsilon, const std::string& path);
// (epsilon, delta)-DP. epsilon in (0, inf), delta in (0, 1). Only kRenyiOneOrder reads `order`,
// which must then be in (1, inf).
// FAILED_PRECONDITION if the filter leaves no room at all (for example kRenyiOneOrder at an
// order where the conversion alone costs more than epsilon).
// The cells of units and their reserve have no room until a reference is fixed (Reference::units).
absl::StatusOr<Filter> MakeApproximateDpFilter(double epsilon, double delta,
                                               ApproximateDpFilter kind, double order,
                                               const std::string& path);
// rho-zCDP. rho in (0, inf).
absl::StatusOr<Filter> ZcdpFilter(double rho, const std::string& path);
// mu-GDP. mu in (0, inf).
absl::StatusOr<Filter> GaussianDpFilter(double mu, const std::string& path);
// D_order <= divergence. order in (1, inf), divergence in (0, inf).
absl::StatusOr<Filter> RenyiFilter(double order, double divergence, const std::string& path);

// As kResidue, for a given number of units: the guarantee is the curve of Reference.
Filter UnitsFilter();

// Lets everything pass and guarantees nothing: one cell in which every event costs 0.
Filter NoGuaranteeFilter();

// Returns c >= the true cost of one use of `event` in `cell`, for every pair of neighbors.
// +inf in kUnits and kReserve, whose prices depend on how many units are left (ResiduePricer). +inf
// where the event has no finite cost in that quantity (a Gaussian in pure epsilon, a sampled
// Gaussian in mu, anything not proved): such a charge never fits. Never NaN, never negative. 0 in
// kNoGuarantee, where no true cost exists because nothing is promised. REQUIRES: Validate(event) is
// OK. Cost: that of the Renyi divergence, up to a millisecond; callers keep the result.
double CostUpperBound(const MechanismEvent& event, NeighboringRelation relation,
                      const FilterCell& cell);

// Returns CostUpperBound in each of `cells`; work that cells share is done once. CANCELLED soon
// after `abandoned` returns true: within the time of one elementary, sampled or selected event at
// one order.
absl::StatusOr<std::vector<double>> CostUpperBounds(const MechanismEvent& event,
                                                    NeighboringRelation relation,
                                                    const std::vector<FilterCell>& cells,
                                                    absl::FunctionRef<bool()> abandoned);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_FILTER_FILTER_H_
