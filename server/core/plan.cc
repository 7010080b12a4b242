#include "server/core/plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "accounting/filter/filter.h"
#include "server/core/codec.h"
#include "server/core/gate.h"

namespace epsledger::core {
namespace {

// Returns an error with the point of the curve that the plan does not meet, or OK.
absl::Status MeetsCurve(PlanComposition& plan, const TradeOffCurveCap& cap) {
  for (const TradeOffCurveCap::Point& point : cap.points) {
    ASSIGN_OR_RETURN(const accounting::Guarantee at, plan.At(point.delta));
    if (!(*at.upper <= point.epsilon)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("session.plan: spends epsilon %.6g at delta %g, the cap is %g there",
                          *at.upper, point.delta, point.epsilon));
    }
  }
  return absl::OkStatus();
}

}  // namespace

PlanComposition::PlanComposition(const SessionSpec& spec) {
  question_.accountant = accounting::Accountant::kBest;
  question_.relation = spec.relation;
  question_.events = spec.plan;
}

absl::StatusOr<accounting::Guarantee> PlanComposition::At(double delta) {
  if (std::isnan(delta)) return absl::InvalidArgumentError("session.plan: a delta is NaN");
  const auto asked = answers_.find(delta);
  if (asked != answers_.end()) return asked->second;
  const accounting::Query query = accounting::EpsilonAtDelta::FromDelta(delta);
  if (!history_.has_value()) {
    question_.query = query;
    ASSIGN_OR_RETURN(accounting::ComposedHistory history,
                     accounting::ComposedHistory::Create(question_));
    history_ = std::move(history);
  }
  absl::StatusOr<accounting::Guarantee> guarantee = history_->Ask(query);
  if (guarantee.ok() && !guarantee->upper.has_value()) {
    guarantee = absl::InternalError("session.plan: no upper bound on its epsilon");
  }
  answers_.emplace(delta, guarantee);
  return guarantee;
}

std::vector<double> DeltasOf(const Cap& cap) {
  std::vector<double> deltas;
  if (const auto* approximate = std::get_if<ApproximateDpCap>(&cap)) {
    deltas.push_back(approximate->delta);
  } else if (const auto* curve = std::get_if<TradeOffCurveCap>(&cap)) {
    for (const TradeOffCurveCap::Point& point : curve->points) deltas.push_back(point.delta);
  }
  return deltas;
}

absl::Status CheckOwnCap(const SessionSpec& spec, PlanComposition& plan) {
  if (!spec.own_cap.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(FilterFor(*spec.own_cap, "session.ownCap").status());
  if (const auto* cap = std::get_if<ApproximateDpCap>(&*spec.own_cap)) {
    return MeetsCurve(plan, TradeOffCurveCap{.points = {{cap->epsilon, cap->delta}}});
  }
  if (const auto* cap = std::get_if<TradeOffCurveCap>(&*spec.own_cap)) {
    return MeetsCurve(plan, *cap);
  }
  return absl::InvalidArgumentError(
      "session.ownCap: want approximateDp or tradeOffCurve, the currencies that a plan is composed "
      "in");
}

std::vector<Cost> PlanCosts(const SessionSpec& spec, PlanComposition& plan, double epsilon,
                            const Cap& cap, const CellFilter& filter, bool is_crossed,
                            const Pricing* pricing, PricesWanted* wanted) {
  const auto sum_over_events = [&] {
    std::vector<Cost> costs(filter.cells.size());
    for (const accounting::CountedEvent& item : spec.plan) {
      const std::vector<Cost>* one = FindCosts(*item.event, EncodeEvent(*item.event), spec.relation,
                                               filter, is_crossed, pricing, wanted);
      if (one != nullptr) AddInPlace(Times(*one, item.count), &costs);
    }
    return costs;
  };
  // A composition covers a record that is replaced within one part, so each event is costed
  // separately here.
  if (is_crossed) return sum_over_events();
  if (const auto* curve = std::get_if<TradeOffCurveCap>(&cap)) {
    return {MeetsCurve(plan, *curve).ok() ? Cost::RoundUp(1) : Cost::Infinite()};
  }
  const bool counts_delta =
      std::any_of(filter.cells.begin(), filter.cells.end(),
                  // A delta cell without room belongs to pure epsilon-DP.
                  [](const Cell& cell) {
                    return cell.quantity == accounting::CellQuantity::kDelta && !cell.cap.is_zero();
                  });
  if (!counts_delta) return sum_over_events();
  std::vector<Cost> costs;
  for (const Cell& cell : filter.cells) {
    costs.push_back(Cost::RoundUp(accounting::CostUpperBound(
        accounting::ApproximateDp{.epsilon = epsilon, .delta = spec.plan_delta}, spec.relation,
        {.quantity = cell.quantity, .order = cell.order})));
  }
  return costs;
}

PlanBlock BlockOf(const std::vector<accounting::CountedEvent>& plan) {
  if (plan.size() == 1) return {.event = *plan[0].event, .count = plan[0].count};
  return {.event = accounting::MechanismEvent(accounting::Composed{.events = plan}), .count = 1};
}

}  // namespace epsledger::core
