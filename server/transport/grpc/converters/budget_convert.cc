#include "server/transport/grpc/converters/budget_convert.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "proto/convert/enum_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/output_only.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

absl::StatusOr<core::Cap> ReadApproximateDp(const v1::ApproximateDpCap& message,
                                            const std::string& path) {
  core::ApproximateDpCap cap;
  cap.epsilon = message.epsilon();
  cap.delta = message.delta();
  if (message.filter() != v1::ApproximateDpCap::FILTER_UNSPECIFIED) {
    absl::Status status = convert::CheckEnum(
        message.filter(), v1::ApproximateDpCap::Filter_descriptor(), path + ".filter");
    if (!status.ok()) return status;
    cap.filter = static_cast<accounting::ApproximateDpFilter>(message.filter());
  }
  const bool one_order = cap.filter == accounting::ApproximateDpFilter::kRenyiOneOrder;
  if (one_order != message.has_order()) {
    return accounting::OutOfDomain(
        path + ".order",
        message.has_order() ? accounting::FormatDouble(message.order()) : "nothing",
        one_order ? "in (1, inf)" : "unset: only RENYI_ONE_ORDER reads it");
  }
  cap.order = message.order();
  return cap;
}

struct CapWriter {
  v1::Cap* message;

  void operator()(const core::PureEpsilonCap& cap) const {
    message->mutable_pure_epsilon()->set_epsilon(cap.epsilon);
  }
  void operator()(const core::ApproximateDpCap& cap) const {
    v1::ApproximateDpCap* out = message->mutable_approximate_dp();
    out->set_epsilon(cap.epsilon);
    out->set_delta(cap.delta);
    out->set_filter(static_cast<v1::ApproximateDpCap::Filter>(cap.filter));
    if (cap.filter == accounting::ApproximateDpFilter::kRenyiOneOrder) out->set_order(cap.order);
  }
  void operator()(const core::ZcdpCap& cap) const { message->mutable_zcdp()->set_rho(cap.rho); }
  void operator()(const core::GaussianDpCap& cap) const {
    message->mutable_gaussian_dp()->set_mu(cap.mu);
  }
  void operator()(const core::RenyiCap& cap) const {
    message->mutable_renyi()->set_order(cap.order);
    message->mutable_renyi()->set_divergence(cap.divergence);
  }
};

// spent / cap rounded up, in [0, 1]. Of a cell without room nothing is spent while charges need not
// touch it (the delta of a pure-epsilon cap), and all of it where it is one way among others.
double SpentFraction(const v1::CellBalance& cell, bool all_cells) {
  if (cell.spent() == 0 && (cell.cap() > 0 || all_cells)) return 0;
  if (!(cell.spent() < cell.cap())) return 1;
  return std::min(1.0, std::nextafter(cell.spent() / cell.cap(), 2.0));
}

}  // namespace

absl::StatusOr<core::Cap> FromProto(const v1::Cap& message, const std::string& path) {
  absl::StatusOr<core::Cap> cap;
  switch (message.currency_case()) {
    case v1::Cap::kPureEpsilon:
      cap = core::PureEpsilonCap{message.pure_epsilon().epsilon()};
      break;
    case v1::Cap::kApproximateDp:
      cap = ReadApproximateDp(message.approximate_dp(), path + ".approximateDp");
      break;
    case v1::Cap::kZcdp:
      cap = core::ZcdpCap{message.zcdp().rho()};
      break;
    case v1::Cap::kGaussianDp:
      cap = core::GaussianDpCap{message.gaussian_dp().mu()};
      break;
    case v1::Cap::kRenyi:
      cap = core::RenyiCap{message.renyi().order(), message.renyi().divergence()};
      break;
    case v1::Cap::CURRENCY_NOT_SET:
      return absl::InvalidArgumentError(absl::StrCat(
          path,
          ": unset, want one of pureEpsilon, approximateDp, zcdp, gaussianDp, renyi; there "
          "is no unlimited budget"));
  }
  if (!cap.ok()) return cap;
  const absl::StatusOr<accounting::Filter> filter = core::FilterFor(*cap, path);
  if (!filter.ok()) return filter.status();
  return cap;
}

void ToProto(const core::Cap& cap, v1::Cap* message) { std::visit(CapWriter{message}, cap); }

absl::StatusOr<core::BudgetSpec> FromProto(const v1::CreateBudgetRequest& request) {
  absl::Status status = CheckResourceId("budgetId", request.budget_id());
  if (!status.ok()) return status;
  if (!request.has_budget()) {
    return absl::InvalidArgumentError("budget: unset, want a budget");
  }
  const v1::Budget& budget = request.budget();
  core::BudgetSpec spec;
  spec.id = request.budget_id();
  if (!budget.name().empty() && budget.name() != FormatBudgetName(spec.id)) {
    return accounting::OutOfDomain("budget.name", Shown(budget.name()),
                                   absl::StrCat("unset or ", FormatBudgetName(spec.id)));
  }
  status = CheckOutputOnlyUnset(budget, "budget");
  if (!status.ok()) return status;
  if (!budget.parent().empty()) {
    absl::StatusOr<std::string> parent = ParseBudgetName("budget.parent", budget.parent());
    if (!parent.ok()) return parent.status();
    if (*parent == spec.id) {
      return accounting::OutOfDomain("budget.parent", Shown(budget.parent()), "another budget");
    }
    spec.parent_id = *std::move(parent);
  }
  absl::StatusOr<core::Cap> cap = FromProto(budget.cap(), "budget.cap");
  if (!cap.ok()) return cap.status();
  spec.cap = *std::move(cap);
  const absl::StatusOr<accounting::NeighboringRelation> relation =
      convert::FromProto(budget.neighboring_relation(), "budget.neighboringRelation");
  if (!relation.ok()) return relation.status();
  spec.relation = *relation;
  spec.privacy_unit = budget.privacy_unit();
  spec.display_name = budget.display_name();
  status = CheckText("budget.privacyUnit", spec.privacy_unit, 1, core::kMaxPrivacyUnitBytes);
  if (status.ok()) {
    status = CheckText("budget.displayName", spec.display_name, 0, core::kMaxDisplayNameBytes);
  }
  if (!status.ok()) return status;
  return spec;
}

void ToProto(const core::BudgetSpec& spec, v1::Budget* message) {
  message->set_name(FormatBudgetName(spec.id));
  if (!spec.parent_id.empty()) message->set_parent(FormatBudgetName(spec.parent_id));
  ToProto(spec.cap, message->mutable_cap());
  message->set_neighboring_relation(convert::ToProto(spec.relation));
  message->set_privacy_unit(spec.privacy_unit);
  message->set_display_name(spec.display_name);
}

void ToProto(const core::BudgetState& state, v1::Budget* message) {
  ToProto(state.spec, message);
  message->set_state(v1::Budget::ACTIVE);
  const core::CellFilter& filter = state.balance.filter();
  const bool all_cells = filter.rule == accounting::FilterRule::kAllCells;
  double fraction = all_cells ? 0 : 1;
  for (size_t i = 0; i < filter.cells.size(); ++i) {
    v1::CellBalance* cell = message->add_cells();
    ToProto(filter.cells[i], state.balance.spent()[i], cell);
    const double of_cell = SpentFraction(*cell, all_cells);
    fraction = all_cells ? std::max(fraction, of_cell) : std::min(fraction, of_cell);
  }
  message->set_all_cells_must_fit(all_cells);
  message->set_theorem(filter.theorem);
  message->set_spent_fraction(fraction);
  message->set_accepted_charge_count(state.accepted_charge_count);
  message->set_refused_charge_count(state.refused_charge_count);
  ToProto(state.create_time_micros, message->mutable_create_time());
}

void ToProto(const core::Cell& cell, core::Cost spent, v1::CellBalance* message) {
  // The numbers are those of accounting::CellQuantity.
  message->set_quantity(static_cast<v1::CellBalance::Quantity>(cell.quantity));
  message->set_order(cell.order);
  message->set_cap(cell.cap.ToDoubleDown());
  message->set_spent(spent.ToDoubleUp());
  message->set_remaining(cell.cap.MinusOrZero(spent).ToDoubleDown());
}

void ToProto(int64_t time_micros, google::protobuf::Timestamp* message) {
  message->set_seconds(time_micros / 1'000'000);
  message->set_nanos(static_cast<int32_t>(time_micros % 1'000'000) * 1'000);
}

}  // namespace epsledger::transport
