#include "server/core/cap.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "server/core/limits.h"

namespace epsledger::core {
namespace {

const char* Name(accounting::ApproximateDpFilter filter) {
  switch (filter) {
    case accounting::ApproximateDpFilter::kRenyiOrders:
      return "Renyi orders";
    case accounting::ApproximateDpFilter::kRenyiOneOrder:
      return "one Renyi order";
    case accounting::ApproximateDpFilter::kBasic:
      return "basic composition";
    case accounting::ApproximateDpFilter::kAdvanced:
      return "advanced composition";
    case accounting::ApproximateDpFilter::kZcdp:
      return "zCDP";
    case accounting::ApproximateDpFilter::kResidue:
      return "units of a reference";
    case accounting::ApproximateDpFilter::kPortfolio:
      return "a portfolio";
  }
  return "an unknown filter";
}

struct FilterBuilder {
  const std::string& path;
  absl::StatusOr<accounting::Filter> operator()(const PureEpsilonCap& cap) const {
    return accounting::PureDpFilter(cap.epsilon, path + ".pureEpsilon");
  }
  absl::StatusOr<accounting::Filter> operator()(const ApproximateDpCap& cap) const {
    return accounting::MakeApproximateDpFilter(cap.epsilon, cap.delta, cap.filter, cap.order,
                                               path + ".approximateDp");
  }
  absl::StatusOr<accounting::Filter> operator()(const ZcdpCap& cap) const {
    return accounting::ZcdpFilter(cap.rho, path + ".zcdp");
  }
  absl::StatusOr<accounting::Filter> operator()(const GaussianDpCap& cap) const {
    return accounting::GaussianDpFilter(cap.mu, path + ".gaussianDp");
  }
  absl::StatusOr<accounting::Filter> operator()(const RenyiCap& cap) const {
    return accounting::RenyiFilter(cap.order, cap.divergence, path + ".renyi");
  }
  absl::StatusOr<accounting::Filter> operator()(const TradeOffCurveCap& cap) const {
    const std::string points = path + ".tradeOffCurve.points";
    const auto count = static_cast<int64_t>(cap.points.size());
    RETURN_IF_ERROR(accounting::CheckRange(points, count, 1, kMaxCurvePoints));
    for (size_t i = 0; i < cap.points.size(); ++i) {
      const std::string point = absl::StrFormat("%s[%d]", points, i);
      const auto& [epsilon, delta] = cap.points[i];
      for (absl::Status s :
           {accounting::CheckInterval(point + ".epsilon", epsilon, accounting::kNonNegative),
            accounting::CheckInterval(point + ".delta", delta, accounting::kOpenProbability)}) {
        if (!s.ok()) return s;
      }
      if (i > 0 && !(cap.points[i - 1].epsilon < epsilon && delta < cap.points[i - 1].delta)) {
        return absl::InvalidArgumentError(
            absl::StrFormat("%s: got (%g, %g), want a larger epsilon and a smaller delta than the "
                            "point before it has",
                            point, epsilon, delta));
      }
    }
    // The filter has room for one plan that meets the whole curve.
    return accounting::Filter{
        accounting::FilterRule::kAllCells,
        {accounting::FilterCell{accounting::CellQuantity::kPlanCount, 0, 1}},
        "one plan fixed in advance, (epsilon, delta)-DP at every point ; [DRS19] Prop 2.12"};
  }
  absl::StatusOr<accounting::Filter> operator()(const NoGuaranteeCap&) const {
    return accounting::NoGuaranteeFilter();
  }
  absl::StatusOr<accounting::Filter> operator()(const UnitsCap& cap) const {
    const std::string units = path + ".units";
    for (absl::Status s :
         {accounting::CheckRange(units + ".count", cap.count, 1, kMaxUnits),
          accounting::CheckInterval(units + ".delta", cap.delta, accounting::kOpenProbability)}) {
      if (!s.ok()) return s;
    }
    return accounting::UnitsFilter();
  }
};

struct CapDescriber {
  std::string operator()(const PureEpsilonCap& cap) const {
    return absl::StrFormat("%g-DP", cap.epsilon);
  }
  std::string operator()(const ApproximateDpCap& cap) const {
    return absl::StrFormat("(%g, %g)-DP by %s", cap.epsilon, cap.delta, Name(cap.filter));
  }
  std::string operator()(const ZcdpCap& cap) const { return absl::StrFormat("%g-zCDP", cap.rho); }
  std::string operator()(const GaussianDpCap& cap) const {
    return absl::StrFormat("%g-GDP", cap.mu);
  }
  std::string operator()(const RenyiCap& cap) const {
    return absl::StrFormat("(%g, %g)-RDP", cap.order, cap.divergence);
  }
  std::string operator()(const TradeOffCurveCap& cap) const {
    std::string text = "a trade-off curve of";
    for (const TradeOffCurveCap::Point& point : cap.points) {
      absl::StrAppendFormat(&text, " (%g, %g)", point.epsilon, point.delta);
    }
    return text + "-DP";
  }
  std::string operator()(const NoGuaranteeCap&) const { return "no guarantee"; }
  std::string operator()(const UnitsCap& cap) const {
    std::string text =
        absl::StrFormat("%d units of %s", cap.count, accounting::Describe(*cap.reference));
    for (const TradeOffCurveCap::Point& point : cap.guarantee) {
      absl::StrAppendFormat(&text, "%s (%.6g, %g)", &point == &cap.guarantee.front() ? ":" : ",",
                            accounting::RoundUp(point.epsilon * (1 + 1e-5)), point.delta);
    }
    return cap.guarantee.empty() ? text : text + "-DP";
  }
};

// Returns x with the tolerance of kAllCellsWithTolerance, rounded up.
double Widened(double x) {
  if (!(x > 0)) return x;
  return accounting::RoundUp(accounting::RoundUp(x * (1 + 0x1p-32)) + 0x1p-64);
}

struct Widener {
  Cap operator()(PureEpsilonCap cap) const {
    cap.epsilon = Widened(cap.epsilon);
    return cap;
  }
  Cap operator()(ApproximateDpCap cap) const {
    cap.epsilon = Widened(cap.epsilon);
    cap.delta = std::min(Widened(cap.delta), std::nextafter(1.0, 0.0));
    return cap;
  }
  Cap operator()(ZcdpCap cap) const {
    cap.rho = Widened(cap.rho);
    return cap;
  }
  // The tolerance applies to mu^2.
  Cap operator()(GaussianDpCap cap) const {
    cap.mu = accounting::RoundUp(std::sqrt(Widened(accounting::RoundUp(cap.mu * cap.mu))));
    return cap;
  }
  Cap operator()(RenyiCap cap) const {
    cap.divergence = Widened(cap.divergence);
    return cap;
  }
  Cap operator()(TradeOffCurveCap cap) const { return cap; }
  Cap operator()(NoGuaranteeCap cap) const { return cap; }
  Cap operator()(UnitsCap cap) const { return cap; }
};

}  // namespace

Cap KeptCap(const Cap& cap, accounting::FilterRule rule) {
  if (rule != accounting::FilterRule::kAllCellsWithTolerance) return cap;
  return std::visit(Widener{}, cap);
}

absl::StatusOr<accounting::Filter> FilterFor(const Cap& cap, const std::string& path) {
  return std::visit(FilterBuilder{path}, cap);
}

const std::vector<TradeOffCurveCap::Point>* CurveOf(const Cap& cap) {
  if (const auto* curve = std::get_if<TradeOffCurveCap>(&cap)) return &curve->points;
  if (const auto* units = std::get_if<UnitsCap>(&cap)) return &units->guarantee;
  return nullptr;
}

std::optional<TradeOffCurveCap::Point> PointOf(const Cap& cap, double delta) {
  const std::vector<TradeOffCurveCap::Point>* points = CurveOf(cap);
  if (points == nullptr) return std::nullopt;
  const auto point = std::find_if(points->begin(), points->end(),
                                  [delta](const auto& p) { return p.delta <= delta; });
  if (point == points->end()) return std::nullopt;
  return *point;
}

bool TakeGuaranteeOf(const Cap& from, Cap* to) {
  const auto* source = std::get_if<UnitsCap>(&from);
  auto* target = std::get_if<UnitsCap>(to);
  if (source == nullptr || target == nullptr || *source->reference != *target->reference ||
      source->count != target->count || source->delta != target->delta) {
    return false;
  }
  target->guarantee = source->guarantee;
  return true;
}

bool TakeFilterOf(const Cap& from, Cap* to) {
  const auto* source = std::get_if<ApproximateDpCap>(&from);
  auto* target = std::get_if<ApproximateDpCap>(to);
  if (source == nullptr || target == nullptr) return false;
  target->filter = source->filter;
  target->order = source->order;
  return true;
}

std::string Describe(const Cap& cap) { return std::visit(CapDescriber{}, cap); }

}  // namespace epsledger::core
