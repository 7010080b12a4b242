#ifndef EPSLEDGER_BUDGET_H_
#define EPSLEDGER_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "epsledger/mechanism.h"

namespace epsledger {

// Which data sets count as neighbors. kUnspecified is refused everywhere.
enum class NeighboringRelation {
  kUnspecified = 0,
  kAddOrRemoveOne = 1,
  kReplaceOne = 2,
  kReplaceSpecial = 3,
};

// How an (epsilon, delta) cap is enforced, as in epsledger.v1.ApproximateDpCap.Filter.
enum class ApproximateDpFilter {
  kUnspecified = 0,  // the server chooses: kPortfolio, or the filter of the existing budget
  kRenyiOrders = 1,
  kRenyiOneOrder = 2,
  kBasic = 3,
  kAdvanced = 4,
  kZcdp = 5,
  kResidue = 6,
  kPortfolio = 7,
};

// The currencies of caps. Every number is finite and > 0. No cap is "unlimited": a budget that
// promises nothing has a NoGuaranteeCap, and its epsilon is infinite.
struct PureEpsilonCap {
  double epsilon = 0;
};
struct ApproximateDpCap {
  double epsilon = 0;
  double delta = 0;  // in (0, 1)
  ApproximateDpFilter filter = ApproximateDpFilter::kUnspecified;
  std::optional<double> order;  // in (1, inf), with kRenyiOneOrder
  // With kResidue and kPortfolio: the event that units are counted in, best the step that most
  // sessions repeat. If unset, the first session that says what it expects decides, or the first
  // charge.
  std::optional<Mechanism> reference = std::nullopt;
};
struct ZcdpCap {
  double rho = 0;
};
struct GaussianDpCap {
  double mu = 0;
};
struct RenyiCap {
  double order = 0;  // in (1, inf)
  double divergence = 0;
};

// For one DECLARED plan, which must be (epsilon, delta)-DP at every point.
struct TradeOffCurveCap {
  struct Point {
    double epsilon = 0;  // in [0, inf), rising
    double delta = 0;    // in (0, 1), falling
  };
  std::vector<Point> points;
};

// Promises nothing to anybody. A budget with this cap takes Mechanism::NonPrivate, and so runs as
// published (Claim). It is a root, or lies below another budget with this cap: budgets above keep
// their caps.
struct NoGuaranteeCap {};

// Allows `count` units of a reference event. It promises a curve: that of `count` uses of the
// event, and a 40th of `delta` more. A session's own cap cannot be of this kind.
struct UnitsCap {
  std::optional<Mechanism> reference;  // best the step that most sessions repeat
  int64_t count = 0;                   // in [1, 2^40]
  double delta = 0;                    // in (0, 1): the smallest at which the curve is wanted
  // The curve at `delta` and at powers of ten above it. The server computes it.
  std::vector<TradeOffCurveCap::Point> guarantee = {};
};

// monostate: not set. The server refuses it.
using Cap = std::variant<std::monostate, PureEpsilonCap, ApproximateDpCap, ZcdpCap, GaussianDpCap,
                         RenyiCap, TradeOffCurveCap, NoGuaranteeCap, UnitsCap>;

// One quantity of a cap's filter, as in epsledger.v1.CellBalance.Quantity.
enum class Quantity {
  kUnspecified = 0,
  kEpsilon = 1,
  kDelta = 2,
  kEpsilonSquared = 3,
  kRho = 4,
  kMuSquared = 5,
  kRenyiDivergence = 6,
  kPlanCount = 7,
  kNoGuarantee = 8,
  kUnits = 9,     // units of the cap's reference event; the cap is 0 until the event is fixed
  kReserve = 10,  // delta used by prices in units; belongs to the kUnits cell before it
};

// cap and remaining are rounded down, spent is rounded up.
struct CellBalance {
  Quantity quantity = Quantity::kUnspecified;
  double order = 0;  // with kRenyiDivergence
  double cap = 0;
  double spent = 0;
  double remaining = 0;
};

// The settings of a new budget. Every field but parent and display_name is required.
struct BudgetOptions {
  std::string id;      // [a-z0-9] followed by up to 62 of [a-z0-9._-]
  std::string parent;  // "budgets/{budget}"; empty for a root
  Cap cap;
  NeighboringRelation neighboring_relation = NeighboringRelation::kUnspecified;
  std::string privacy_unit;  // "person", "device-day"; 1 to 128 bytes
  std::string display_name;
};

// A budget as the server described it.
struct Budget {
  std::string name;  // "budgets/{budget}"
  std::string parent;
  Cap cap;
  NeighboringRelation neighboring_relation = NeighboringRelation::kUnspecified;
  std::string privacy_unit;
  std::string display_name;
  std::string state;  // "ACTIVE", "FROZEN", "CLOSED", "SUPERSEDED"
  std::vector<CellBalance> cells;
  bool all_cells_must_fit = false;  // otherwise one cell with room is enough
  std::string theorem;
  double spent_fraction = 0;  // in [0, 1], rounded up
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_BUDGET_H_
