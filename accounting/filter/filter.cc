#include "accounting/filter/filter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/classical/approximate_dp.h"
#include "accounting/event/domain.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "accounting/gaussian/calibration.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/conversion.h"
#include "accounting/renyi/divergences.h"
#include "accounting/zcdp/zcdp.h"

namespace epsledger::accounting {
namespace {

// The best order for DP-SGD is near 1 + 2 log(1/delta) / epsilon, and lower for small batches with
// little noise: from 1.5 (epsilon 20) to some hundreds (epsilon 0.1). The spacing keeps the best
// order within a factor 1.35 in a - 1 below 24 and 2 above. Integers where the moment is an exact
// sum.
constexpr double kRenyiOrders[] = {1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 11, 16, 24, 40, 72, 144, 320};

absl::Status Check(const std::string& path, const char* name, double x, const Interval& domain) {
  return CheckInterval(path.empty() ? name : absl::StrCat(path, ".", name), x, domain);
}

constexpr double kLargest = std::numeric_limits<double>::max();

absl::Status NoRoom(const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat("the filter leaves no room: ", what));
}

Filter OneCell(FilterRule rule, CellQuantity quantity, double order, double cap,
               std::string theorem) {
  return Filter{rule, {FilterCell{quantity, order, cap}}, std::move(theorem)};
}

absl::StatusOr<Filter> RenyiGridFilter(double epsilon, double log_delta) {
  std::vector<FilterCell> cells;
  // Keeps the orders that have room with delta / 16, then splits delta among only these: their caps
  // only grow.
  for (int round = 0; round < 2; ++round) {
    const double share = round == 0 ? static_cast<double>(std::size(kRenyiOrders))
                                    : static_cast<double>(cells.size());
    const double log_share = RoundDown(log_delta - RoundUp(std::log(share)));
    std::vector<FilterCell> kept;
    for (const double order : kRenyiOrders) {
      const bool before = round == 0 || std::any_of(cells.begin(), cells.end(), [&](const auto& c) {
                            return c.order == order;
                          });
      const double cap = before ? LargestDivergence(order, epsilon, log_share) : 0;
      if (cap > 0) kept.push_back(FilterCell{CellQuantity::kRenyi, order, cap});
    }
    cells = std::move(kept);
    if (cells.empty()) return NoRoom("no Renyi order converts to so small an epsilon");
  }
  return Filter{FilterRule::kAnyCell, std::move(cells),
                "[FZ21] Thm 4.3 at every order, delta split evenly among the orders ; [CKS20] Prop "
                "12 ; union bound of accounting/filter/README.md, \"Some order of a grid\""};
}

// The text that kAllCellsWithTolerance adds to every theorem.
constexpr char kToleranceNote[] = " ; up to 2^-32 of the cap beyond it";

constexpr char kResidueTheorem[] =
    "residue filter along one reference, accounting/filter/README.md ; after arXiv 2602.15815";

// The share of delta that each member of a portfolio may take; rounded down, so that the shares sum
// to at most 1.
constexpr double kPortfolioUnits = 0.92;
constexpr double kPortfolioGaussian = 0.04;
constexpr double kPortfolioRenyi = 0.04;

Filter PortfolioFilter(double epsilon, double delta) {
  Filter filter = UnitsFilter();
  filter.rule = FilterRule::kAnyCell;
  filter.theorem =
      std::string(kResidueTheorem) +
      " ; [ST22] Thm 1 ; [FZ21] Thm 4.3 at every order ; [CKS20] Prop 12 ; fixed shares "
      "of delta, accounting/filter/README.md, \"Some order of a grid\"";
  const double mu =
      LargestGaussianMu(epsilon, RoundDown(std::log(RoundDown(kPortfolioGaussian * delta)), 1));
  if (const double cap = RoundDownNonNegative(mu * mu, 2); cap > 0) {
    filter.cells.push_back(FilterCell{CellQuantity::kMuSquared, 0, cap});
  }
  const absl::StatusOr<Filter> renyi =
      RenyiGridFilter(epsilon, RoundDown(std::log(RoundDown(kPortfolioRenyi * delta)), 1));
  if (renyi.ok()) {
    filter.cells.insert(filter.cells.end(), renyi->cells.begin(), renyi->cells.end());
  }
  return filter;
}

absl::StatusOr<Filter> AdvancedFilter(double epsilon, double delta) {
  const double slack = 0.5 * delta;  // exact unless it is subnormal
  if (!(slack > 0)) return NoRoom("half of delta is not a double");
  // sqrt(2 L V) + V / 2 = epsilon has the root sqrt(V) = 2 epsilon / (sqrt(2 L) + sqrt(2 L + 2
  // epsilon)).
  const double l2 = RoundUp(-2 * std::log(slack), 2);
  const double root = 2 * epsilon / (std::sqrt(l2) + std::sqrt(l2 + 2 * epsilon));
  const double squares = RoundDownNonNegative(root * root, 16);
  const double rest = RoundDownNonNegative(delta - slack);
  if (!(squares > 0)) return NoRoom("epsilon is too small");
  return Filter{FilterRule::kAllCells,
                {FilterCell{CellQuantity::kEpsilonSquared, 0, squares},
                 FilterCell{CellQuantity::kDelta, 0, rest}},
                "[WRRW23] Thm 4"};
}

// x, or +inf where it is NaN or negative.
double Sane(double x) { return x >= 0 ? x : kInfinity; }

// Returns the sum of cost over the elementary events inside `event`.
template <class Cost>
double SumOver(const MechanismEvent& event, Cost cost) {
  double sum = 0;
  for (const Use& use : Flatten(event)) {
    const double one = Sane(cost(*use.event));
    if (one == kInfinity) return kInfinity;
    if (one > 0) {
      sum = sum == 0 && use.count == 1 ? one : RoundUp(sum + RoundUp(use.count * one));
    }
  }
  return Sane(sum);
}

// `renyi`: the event's Renyi profile, where it has one without a delta.
double CostIn(const MechanismEvent& event, const Setting& setting,
              const std::optional<RenyiDivergences>& renyi, const FilterCell& cell,
              absl::FunctionRef<bool()> abandoned) {
  switch (cell.quantity) {
    case CellQuantity::kEpsilon:
    case CellQuantity::kDelta:
    case CellQuantity::kEpsilonSquared: {
      // Each cell counts its own part of (epsilon, delta): every filter with an epsilon cell also
      // has a delta cell.
      return SumOver(event, [&](const MechanismEvent& e) {
        const absl::StatusOr<ApproximateDpParameters> pair =
            ApproximateDpOf(e, setting, Accountant::kBasic);
        if (!pair.ok()) return kInfinity;
        if (cell.quantity == CellQuantity::kDelta) return pair->delta;
        if (cell.quantity == CellQuantity::kEpsilon) return pair->epsilon;
        return RoundUpNonNegative(pair->epsilon * pair->epsilon);
      });
    }
    case CellQuantity::kRho:
      return SumOver(event, [&](const MechanismEvent& e) {
        const absl::StatusOr<ZcdpParameters> zcdp = ZcdpOf(e, setting);
        if (!zcdp.ok() || zcdp->xi > 0 || zcdp->delta > 0) return kInfinity;
        return zcdp->rho;
      });
    case CellQuantity::kMuSquared:
      return SumOver(event, [&](const MechanismEvent& e) {
        const auto* gaussian = e.As<Gaussian>();
        return gaussian == nullptr ? kInfinity
                                   : GaussianMuSquared(*gaussian, setting.shift())->upper;
      });
    case CellQuantity::kRenyi:
      if (!(cell.order > 1) || !renyi.has_value()) return kInfinity;
      return Sane(renyi->Divergence(cell.order, abandoned));
    case CellQuantity::kPlanCount:
      return kInfinity;  // an event is not a plan
    case CellQuantity::kUnits:
    case CellQuantity::kReserve:
      return kInfinity;  // ResiduePricer prices it by the units left
    case CellQuantity::kNoGuarantee:
      return 0;
  }
  return kInfinity;
}

}  // namespace

double DeltaOfUnits(ApproximateDpFilter kind, double delta) {
  if (kind == ApproximateDpFilter::kResidue) return delta;
  return kind == ApproximateDpFilter::kPortfolio ? RoundDown(kPortfolioUnits * delta) : 0;
}

Filter UnitsFilter() {
  return Filter{FilterRule::kAllCells,
                {FilterCell{CellQuantity::kUnits, 0, 0}, FilterCell{CellQuantity::kReserve, 0, 0}},
                kResidueTheorem};
}

absl::StatusOr<Filter> PureDpFilter(double epsilon, const std::string& path) {
  RETURN_IF_ERROR(Check(path, "epsilon", epsilon, kPositive));
  // The second cell, with no room, refuses every event that has a delta.
  return Filter{
      FilterRule::kAllCellsWithTolerance,
      {FilterCell{CellQuantity::kEpsilon, 0, epsilon}, FilterCell{CellQuantity::kDelta, 0, 0}},
      absl::StrCat("[RRUV16] Sec 3: epsilons add up adaptively", kToleranceNote)};
}

absl::StatusOr<Filter> MakeApproximateDpFilter(double epsilon, double delta,
                                               ApproximateDpFilter kind, double order,
                                               const std::string& path) {
  RETURN_IF_ERROR(Check(path, "epsilon", epsilon, kPositive));
  RETURN_IF_ERROR(Check(path, "delta", delta, kOpenProbability));
  const double log_delta = RoundDown(std::log(delta), 1);
  switch (kind) {
    case ApproximateDpFilter::kRenyiOrders:
      return RenyiGridFilter(epsilon, log_delta);
    case ApproximateDpFilter::kRenyiOneOrder: {
      RETURN_IF_ERROR(Check(path, "order", order, kRenyiOrder));
      const double cap = LargestDivergence(order, epsilon, log_delta);
      if (!(cap > 0)) return NoRoom("the conversion at this order alone costs more than epsilon");
      return OneCell(FilterRule::kAllCells, CellQuantity::kRenyi, order, cap,
                     "[FZ21] Thm 4.3 ; [CKS20] Prop 12");
    }
    case ApproximateDpFilter::kBasic:
      return Filter{
          FilterRule::kAllCellsWithTolerance,
          {FilterCell{CellQuantity::kEpsilon, 0, epsilon},
           FilterCell{CellQuantity::kDelta, 0, delta}},
          absl::StrCat("[RRUV16] Sec 3: epsilons and deltas add up adaptively", kToleranceNote)};
    case ApproximateDpFilter::kAdvanced:
      return AdvancedFilter(epsilon, delta);
    case ApproximateDpFilter::kZcdp: {
      const double rho = LargestRho(epsilon, log_delta);
      if (!(rho > 0)) return NoRoom("no rho converts to so small an epsilon");
      return OneCell(FilterRule::kAllCells, CellQuantity::kRho, 0, rho,
                     "[FZ21] Thm 4.3 at every order ; [CKS20] Prop 12");
    }
    case ApproximateDpFilter::kResidue:
      return UnitsFilter();
    case ApproximateDpFilter::kPortfolio:
      return PortfolioFilter(epsilon, delta);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("filter: got ", static_cast<int>(kind), ", want a filter that is defined"));
}

absl::StatusOr<Filter> ZcdpFilter(double rho, const std::string& path) {
  RETURN_IF_ERROR(Check(path, "rho", rho, kPositive));
  return OneCell(FilterRule::kAllCellsWithTolerance, CellQuantity::kRho, 0, rho,
                 absl::StrCat("[FZ21] Thm 4.3 at every order", kToleranceNote));
}

absl::StatusOr<Filter> GaussianDpFilter(double mu, const std::string& path) {
  RETURN_IF_ERROR(Check(path, "mu", mu, kPositive));
  const double cap = std::min(RoundDownNonNegative(mu * mu), kLargest);
  return OneCell(FilterRule::kAllCellsWithTolerance, CellQuantity::kMuSquared, 0, cap,
                 absl::StrCat("[ST22] Thm 1, plain Gaussian events only", kToleranceNote));
}

absl::StatusOr<Filter> RenyiFilter(double order, double divergence, const std::string& path) {
  RETURN_IF_ERROR(Check(path, "order", order, kRenyiOrder));
  RETURN_IF_ERROR(Check(path, "divergence", divergence, kPositive));
  return OneCell(FilterRule::kAllCellsWithTolerance, CellQuantity::kRenyi, order, divergence,
                 "[FZ21] Thm 4.3");
}

Filter NoGuaranteeFilter() {
  return OneCell(FilterRule::kAllCells, CellQuantity::kNoGuarantee, 0, 0,
                 "no theorem: this budget promises nothing to anybody");
}

double CostUpperBound(const MechanismEvent& event, NeighboringRelation relation,
                      const FilterCell& cell) {
  return CostUpperBounds(event, relation, {cell}, [] { return false; })->front();
}

absl::StatusOr<std::vector<double>> CostUpperBounds(const MechanismEvent& event,
                                                    NeighboringRelation relation,
                                                    const std::vector<FilterCell>& cells,
                                                    absl::FunctionRef<bool()> abandoned) {
  if (ContainsNonPrivate(event)) {
    std::vector<double> costs(cells.size(), kInfinity);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].quantity == CellQuantity::kNoGuarantee) costs[i] = 0;
    }
    return costs;
  }
  if (ReleasesNothing(event)) {
    std::vector<double> costs(cells.size(), 0);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].quantity == CellQuantity::kPlanCount) costs[i] = kInfinity;  // not a plan
    }
    return costs;
  }
  const Setting setting{.relation = relation};
  std::optional<RenyiDivergences> renyi;
  if (std::any_of(cells.begin(), cells.end(),
                  [](const FilterCell& cell) { return cell.quantity == CellQuantity::kRenyi; })) {
    absl::StatusOr<RenyiDivergences> created = RenyiDivergences::Create(
        Flatten(event), setting, Accountant::kRenyi, /*group_size=*/1, abandoned);
    if (absl::IsCancelled(created.status())) return created.status();
    if (created.ok() && !(created->delta_sum() > 0)) renyi = *std::move(created);
  }
  std::vector<double> costs;
  costs.reserve(cells.size());
  for (const FilterCell& cell : cells) {
    costs.push_back(CostIn(event, setting, renyi, cell, abandoned));
    if (abandoned()) return absl::CancelledError("nobody waits for the costs any more");
  }
  return costs;
}

}  // namespace epsledger::accounting
