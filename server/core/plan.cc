#include "server/core/plan.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "accounting/accountant.h"
#include "accounting/filter/filter.h"

namespace epsledger::core {
namespace {

// The point of the curve that the plan does not meet, or OK.
absl::Status MeetsCurve(const SessionSpec& spec, const TradeOffCurveCap& cap) {
  for (const TradeOffCurveCap::Point& point : cap.points) {
    const absl::StatusOr<accounting::Guarantee> at = ComposePlan(spec, point.delta);
    if (!at.ok()) return at.status();
    if (!(*at->upper <= point.epsilon)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("session.plan: spends epsilon %.6g at delta %g, the cap is %g there",
                          *at->upper, point.delta, point.epsilon));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<accounting::Guarantee> ComposePlan(const SessionSpec& spec, double delta) {
  accounting::Question question;
  question.accountant = accounting::Accountant::kBest;
  question.relation = spec.relation;
  question.events = spec.plan;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  absl::StatusOr<accounting::Guarantee> guarantee = accounting::Answer(question);
  if (guarantee.ok() && !guarantee->upper.has_value()) {
    return absl::InternalError("session.plan: no upper bound on its epsilon");
  }
  return guarantee;
}

absl::Status CheckOwnCap(const SessionSpec& spec) {
  if (!spec.own_cap.has_value()) return absl::OkStatus();
  if (absl::Status status = FilterFor(*spec.own_cap, "session.ownCap").status(); !status.ok()) {
    return status;
  }
  if (const auto* cap = std::get_if<ApproximateDpCap>(&*spec.own_cap)) {
    return MeetsCurve(spec, TradeOffCurveCap{.points = {{cap->epsilon, cap->delta}}});
  }
  if (const auto* cap = std::get_if<TradeOffCurveCap>(&*spec.own_cap)) {
    return MeetsCurve(spec, *cap);
  }
  return absl::InvalidArgumentError(
      "session.ownCap: want approximateDp or tradeOffCurve, the currencies that a plan is composed "
      "in");
}

std::vector<Cost> PlanCosts(const SessionSpec& spec, double epsilon, const Cap& cap,
                            const CellFilter& filter) {
  if (const auto* curve = std::get_if<TradeOffCurveCap>(&cap)) {
    return {MeetsCurve(spec, *curve).ok() ? Cost::RoundUp(1) : Cost::Infinite()};
  }
  const bool counts_delta =
      std::any_of(filter.cells.begin(), filter.cells.end(),
                  // A cell without any room for delta is that of pure epsilon-DP.
                  [](const Cell& cell) {
                    return cell.quantity == accounting::CellQuantity::kDelta && !cell.cap.is_zero();
                  });
  std::vector<Cost> costs;
  for (const Cell& cell : filter.cells) {
    const accounting::FilterCell priced{.quantity = cell.quantity, .order = cell.order};
    Cost cost;
    if (counts_delta) {
      cost = Cost::RoundUp(accounting::CostUpperBound(
          accounting::ApproximateDp{.epsilon = epsilon, .delta = spec.plan_delta}, spec.relation,
          priced));
    } else {
      for (const accounting::CountedEvent& item : spec.plan) {
        cost = cost + Cost::RoundUp(accounting::CostUpperBound(*item.event, spec.relation, priced))
                          .Times(item.count);
      }
    }
    costs.push_back(cost);
  }
  return costs;
}

}  // namespace epsledger::core
