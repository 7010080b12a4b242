#include "client/trainers/run/noise_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"

namespace epsledger::trainers {
namespace {

// Covers the ledger's rounding of every step's cost up to a multiple of 2^-64.
constexpr double kMargin = 1 + 1e-9;

// How many contributions one record moves a sum by.
double Shift(NeighboringRelation relation) {
  return relation == NeighboringRelation::kReplaceOne ? 2 : 1;
}

// The cost of a step with noise multiplier 1 and shift 1; 0 if a Gaussian step has none here.
double UnitCost(const CellBalance& cell) {
  switch (cell.quantity) {
    case Quantity::kRenyiDivergence:
      return cell.order / 2;
    case Quantity::kRho:
      return 0.5;
    case Quantity::kMuSquared:
      return 1;
    case Quantity::kUnspecified:
    case Quantity::kEpsilon:
    case Quantity::kDelta:
    case Quantity::kEpsilonSquared:
    case Quantity::kPlanCount:
    case Quantity::kNoGuarantee:
    case Quantity::kUnits:
    case Quantity::kReserve:
      break;
  }
  return 0;
}

}  // namespace

absl::StatusOr<double> NoiseMultiplierThatFills(const CapCells& cap, int steps,
                                                NeighboringRelation relation) {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const CellBalance& cell : cap.cells) {
    const double unit_cost = UnitCost(cell);
    // No room, or no room for Gaussian steps, in this cell.
    double multiplier = std::numeric_limits<double>::infinity();
    if (unit_cost > 0 && cell.cap > 0) {
      multiplier = Shift(relation) * std::sqrt(steps * unit_cost / cell.cap) * kMargin;
    }
    smallest = std::min(smallest, multiplier);
    largest = std::max(largest, multiplier);
  }
  const double chosen = cap.all_cells_must_fit ? largest : smallest;
  if (!(chosen > 0) || !std::isfinite(chosen)) {
    return absl::FailedPreconditionError(
        "this cap does not count Gaussian steps in a way that tells how much noise they need: give "
        "--noise-multiplier");
  }
  return chosen;
}

}  // namespace epsledger::trainers
