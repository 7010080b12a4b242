#include "client/cpp/budget_message.h"

#include <string>
#include <string_view>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/cpp/mechanism_message.h"

namespace epsledger {
namespace {

struct CapWriter {
  v1::Cap* message;

  void operator()(std::monostate) const {}
  void operator()(const PureEpsilonCap& cap) const {
    message->mutable_pure_epsilon()->set_epsilon(cap.epsilon);
  }
  void operator()(const ApproximateDpCap& cap) const {
    v1::ApproximateDpCap* approximate = message->mutable_approximate_dp();
    approximate->set_epsilon(cap.epsilon);
    approximate->set_delta(cap.delta);
    approximate->set_filter(static_cast<v1::ApproximateDpCap::Filter>(cap.filter));
    if (cap.order.has_value()) approximate->set_order(*cap.order);
    if (cap.reference.has_value()) {
      *approximate->mutable_reference() = MechanismMessage::Of(*cap.reference);
    }
  }
  void operator()(const ZcdpCap& cap) const { message->mutable_zcdp()->set_rho(cap.rho); }
  void operator()(const GaussianDpCap& cap) const {
    message->mutable_gaussian_dp()->set_mu(cap.mu);
  }
  void operator()(const RenyiCap& cap) const {
    message->mutable_renyi()->set_order(cap.order);
    message->mutable_renyi()->set_divergence(cap.divergence);
  }
  void operator()(const TradeOffCurveCap& cap) const {
    for (const TradeOffCurveCap::Point& point : cap.points) {
      v1::TradeOffCurveCap::Point* out = message->mutable_trade_off_curve()->add_points();
      out->set_epsilon(point.epsilon);
      out->set_delta(point.delta);
    }
  }
  void operator()(const NoGuaranteeCap&) const { message->mutable_no_guarantee(); }
  void operator()(const UnitsCap& cap) const {
    v1::UnitsCap* units = message->mutable_units();
    if (cap.reference.has_value()) {
      *units->mutable_reference() = MechanismMessage::Of(*cap.reference);
    }
    units->set_count(cap.count);
    units->set_delta(cap.delta);
  }
};

Cap FromMessage(const v1::Cap& cap) {
  switch (cap.currency_case()) {
    case v1::Cap::kPureEpsilon:
      return PureEpsilonCap{cap.pure_epsilon().epsilon()};
    case v1::Cap::kApproximateDp: {
      const v1::ApproximateDpCap& message = cap.approximate_dp();
      ApproximateDpCap result{.epsilon = message.epsilon(), .delta = message.delta()};
      if (message.filter() != v1::ApproximateDpCap::FILTER_UNSPECIFIED) {
        result.filter = static_cast<ApproximateDpFilter>(message.filter());
      }
      if (message.has_order()) result.order = message.order();
      if (message.has_reference()) result.reference = MechanismMessage::Wrap(message.reference());
      return result;
    }
    case v1::Cap::kZcdp:
      return ZcdpCap{cap.zcdp().rho()};
    case v1::Cap::kGaussianDp:
      return GaussianDpCap{cap.gaussian_dp().mu()};
    case v1::Cap::kRenyi:
      return RenyiCap{.order = cap.renyi().order(), .divergence = cap.renyi().divergence()};
    case v1::Cap::kTradeOffCurve: {
      TradeOffCurveCap result;
      for (const v1::TradeOffCurveCap::Point& point : cap.trade_off_curve().points()) {
        result.points.push_back({point.epsilon(), point.delta()});
      }
      return result;
    }
    case v1::Cap::kNoGuarantee:
      return NoGuaranteeCap{};
    case v1::Cap::kUnits: {
      UnitsCap result{.reference = MechanismMessage::Wrap(cap.units().reference()),
                      .count = cap.units().count(),
                      .delta = cap.units().delta()};
      for (const v1::TradeOffCurveCap::Point& point : cap.units().guarantee()) {
        result.guarantee.push_back({point.epsilon(), point.delta()});
      }
      return result;
    }
    case v1::Cap::CURRENCY_NOT_SET:
      break;
  }
  return std::monostate();
}

}  // namespace

v1::NeighboringRelation::Kind ToMessage(NeighboringRelation relation) {
  return static_cast<v1::NeighboringRelation::Kind>(relation);
}

v1::Cap ToMessage(const Cap& cap) {
  v1::Cap message;
  std::visit(CapWriter{&message}, cap);
  return message;
}

v1::CreateBudgetRequest ToMessage(const BudgetOptions& options) {
  v1::CreateBudgetRequest request;
  request.set_budget_id(options.id);
  v1::Budget* budget = request.mutable_budget();
  budget->set_parent(options.parent.empty() ? "" : BudgetName(options.parent));
  // An unset cap stays unset: the server refuses it by name.
  if (!std::holds_alternative<std::monostate>(options.cap)) {
    *budget->mutable_cap() = ToMessage(options.cap);
  }
  budget->set_neighboring_relation(ToMessage(options.neighboring_relation));
  budget->set_privacy_unit(options.privacy_unit);
  budget->set_display_name(options.display_name);
  return request;
}

CellBalance FromMessage(const v1::CellBalance& cell) {
  return {.quantity = v1::CellBalance::Quantity_IsValid(cell.quantity())
                          ? static_cast<Quantity>(cell.quantity())
                          : Quantity::kUnspecified,
          .order = cell.order(),
          .cap = cell.cap(),
          .spent = cell.spent(),
          .remaining = cell.remaining()};
}

Budget FromMessage(const v1::Budget& budget) {
  Budget result;
  result.name = budget.name();
  result.parent = budget.parent();
  result.cap = FromMessage(budget.cap());
  result.neighboring_relation = static_cast<NeighboringRelation>(budget.neighboring_relation());
  result.privacy_unit = budget.privacy_unit();
  result.display_name = budget.display_name();
  result.state = v1::Budget::State_Name(budget.state());
  for (const v1::CellBalance& cell : budget.cells()) result.cells.push_back(FromMessage(cell));
  result.all_cells_must_fit = budget.all_cells_must_fit();
  result.theorem = budget.theorem();
  result.spent_fraction = budget.spent_fraction();
  result.accepted_charge_count = budget.accepted_charge_count();
  result.refused_charge_count = budget.refused_charge_count();
  return result;
}

std::string BudgetName(std::string_view name_or_id) {
  if (name_or_id.starts_with("budgets/")) return std::string(name_or_id);
  return absl::StrCat("budgets/", std::string(name_or_id));
}

}  // namespace epsledger
