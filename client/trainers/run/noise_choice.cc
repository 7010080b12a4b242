#include "client/trainers/run/noise_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "epsledger/refusal.h"

namespace epsledger::trainers {
namespace {

// Covers the ledger's rounding of every step's cost up to a multiple of 2^-64.
constexpr double kMargin = 1 + 1e-9;

// How far one record moves a sum, in contributions.
double Shift(NeighboringRelation relation) {
  return relation == NeighboringRelation::kReplaceOne ? 2 : 1;
}

// The cost of a step with noise multiplier 1 and shift 1; 0 if the cell does not count Gaussian
// steps.
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

// The answer is above a noise multiplier that is too small by at most this share of it.
constexpr double kWidth = 5e-4;
// The limits of the search, as powers of 2.
constexpr int kLeast = -10;
constexpr int kMost = 20;

// With more noise the ledger may accept.
bool IsForLackOfRoom(RefusalReason reason) {
  return reason == RefusalReason::kBudgetExhausted || reason == RefusalReason::kEventNotChargeable;
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

absl::StatusOr<double> NoiseMultiplierThatFits(const NoisePreview& preview, int steps) {
  const auto fits = [&](double noise) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const ChargePreview answer, preview(noise));
    if (answer.refusal.has_value() && !IsForLackOfRoom(answer.refusal->reason)) {
      return absl::FailedPreconditionError(RefusalText(*answer.refusal));
    }
    return answer.steps_that_fit >= steps;
  };
  int exponent = 0;
  absl::StatusOr<bool> here = fits(1);
  if (!here.ok()) return here.status();
  const bool more = !*here;
  while (*here != more) {
    if (exponent == (more ? kMost : kLeast)) {
      if (!more) return std::exp2(kLeast);
      return absl::FailedPreconditionError(
          absl::StrCat("no noise makes ", steps,
                       " steps fit into what is left of the budget: ask for fewer "
                       "--steps"));
    }
    exponent += more ? 1 : -1;
    here = fits(std::exp2(exponent));
    if (!here.ok()) return here.status();
  }
  double too_small = std::exp2(more ? exponent - 1 : exponent);
  double enough = 2 * too_small;
  while (enough > too_small * (1 + kWidth)) {
    const double between = std::sqrt(too_small * enough);
    here = fits(between);
    if (!here.ok()) return here.status();
    (*here ? enough : too_small) = between;
  }
  return enough;
}

}  // namespace epsledger::trainers
