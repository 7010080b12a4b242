#include "server/transport/grpc/converters/budget_convert.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/mechanism_convert.h"
#include "server/core/limits.h"
#include "server/core/units.h"
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
  cap.filter = accounting::ApproximateDpFilter::kPortfolio;
  if (message.filter() != v1::ApproximateDpCap::FILTER_UNSPECIFIED) {
    RETURN_IF_ERROR(bridge::CheckEnum(message.filter(), v1::ApproximateDpCap::Filter_descriptor(),
                                      path + ".filter"));
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
  void operator()(const core::TradeOffCurveCap& cap) const {
    for (const core::TradeOffCurveCap::Point& point : cap.points) {
      v1::TradeOffCurveCap::Point* out = message->mutable_trade_off_curve()->add_points();
      out->set_epsilon(point.epsilon);
      out->set_delta(point.delta);
    }
  }
  void operator()(const core::NoGuaranteeCap&) const { message->mutable_no_guarantee(); }
  void operator()(const core::UnitsCap& cap) const {
    v1::UnitsCap* out = message->mutable_units();
    bridge::ToProto(*cap.reference, out->mutable_reference());
    out->set_count(cap.count);
    out->set_delta(cap.delta);
    for (const core::TradeOffCurveCap::Point& point : cap.guarantee) {
      v1::TradeOffCurveCap::Point* at = out->add_guarantee();
      at->set_epsilon(point.epsilon);
      at->set_delta(point.delta);
    }
  }
};

core::TradeOffCurveCap ReadTradeOffCurve(const v1::TradeOffCurveCap& message) {
  core::TradeOffCurveCap cap;
  for (const v1::TradeOffCurveCap::Point& point : message.points()) {
    cap.points.push_back({point.epsilon(), point.delta()});
  }
  return cap;
}

absl::StatusOr<core::Cap> ReadUnits(const v1::UnitsCap& message, const std::string& path) {
  RETURN_IF_ERROR(CheckOutputOnlyUnset(message, path));
  core::UnitsCap cap{
      .reference = {}, .count = message.count(), .delta = message.delta(), .guarantee = {}};
  if (message.has_reference()) {
    ASSIGN_OR_RETURN(accounting::MechanismEvent event,
                     bridge::FromProto(message.reference(), path + ".reference"));
    cap.reference = std::move(event);
  }
  return cap;
}

absl::StatusOr<core::Policy> ReadPolicy(const v1::Policy& message, const std::string& path) {
  core::Policy policy;
  policy.provenance_required = message.provenance_required();
  for (int i = 0; i < message.allowed_samplers_size(); ++i) {
    ASSIGN_OR_RETURN(
        const core::Sampler sampler,
        ReadSampler(message.allowed_samplers(i), absl::StrCat(path, ".allowedSamplers[", i, "]")));
    if (std::find(policy.allowed_samplers.begin(), policy.allowed_samplers.end(), sampler) ==
        policy.allowed_samplers.end()) {
      policy.allowed_samplers.push_back(sampler);
    }
  }
  std::set<core::Normalizer> normalizers;  // ascending
  for (int i = 0; i < message.allowed_normalizers_size(); ++i) {
    ASSIGN_OR_RETURN(const core::Normalizer normalizer,
                     ReadNormalizer(message.allowed_normalizers(i),
                                    absl::StrCat(path, ".allowedNormalizers[", i, "]")));
    normalizers.insert(normalizer);
  }
  policy.allowed_normalizers.assign(normalizers.begin(), normalizers.end());
  policy.known_faults_refused = message.known_faults_refused();
  return policy;
}

void ToProto(const core::Policy& policy, v1::Policy* message) {
  for (core::Sampler sampler : policy.allowed_samplers) {
    message->add_allowed_samplers(static_cast<v1::Provenance::Sampler>(sampler));
  }
  message->set_provenance_required(policy.provenance_required);
  for (core::Normalizer normalizer : policy.allowed_normalizers) {
    message->add_allowed_normalizers(static_cast<v1::Provenance::Normalizer>(normalizer));
  }
  message->set_known_faults_refused(policy.known_faults_refused);
}

void ToProto(const core::BudgetDescription& description, v1::Budget* message) {
  message->set_display_name(description.display_name);
  for (const core::Label& label : description.labels) {
    (*message->mutable_labels())[label.key] = label.value;
  }
  message->mutable_alert_thresholds()->Add(description.alert_thresholds.begin(),
                                           description.alert_thresholds.end());
}

// An update that names other fields than those that may change would not do what the caller means.
absl::Status CheckOnlyDescriptionSet(const v1::Budget& budget) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  budget.GetReflection()->ListFields(budget, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    switch (field->number()) {
      case v1::Budget::kNameFieldNumber:
      case v1::Budget::kDisplayNameFieldNumber:
      case v1::Budget::kLabelsFieldNumber:
      case v1::Budget::kAlertThresholdsFieldNumber:
        continue;
      default:
        return accounting::OutOfDomain(absl::StrCat("budget.", field->json_name()), "a value",
                                       "unset: it never changes");
    }
  }
  return absl::OkStatus();
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
    case v1::Cap::kTradeOffCurve:
      cap = ReadTradeOffCurve(message.trade_off_curve());
      break;
    case v1::Cap::kNoGuarantee:
      cap = core::NoGuaranteeCap{};
      break;
    case v1::Cap::kUnits:
      cap = ReadUnits(message.units(), path + ".units");
      break;
    case v1::Cap::CURRENCY_NOT_SET:
      return absl::InvalidArgumentError(
          absl::StrCat(path,
                       ": unset, want one of pureEpsilon, approximateDp, zcdp, gaussianDp, renyi, "
                       "tradeOffCurve, units; there is no unlimited budget, only noGuarantee, "
                       "which promises nothing"));
  }
  if (!cap.ok()) return cap;
  RETURN_IF_ERROR(core::FilterFor(*cap, path).status());
  return cap;
}

void ToProto(const core::Cap& cap, v1::Cap* message) { std::visit(CapWriter{message}, cap); }

bool NamesNoFilter(const v1::Cap& cap) {
  return cap.has_approximate_dp() &&
         cap.approximate_dp().filter() == v1::ApproximateDpCap::FILTER_UNSPECIFIED;
}

absl::Status CheckNoReference(const v1::Cap& cap, const std::string& path) {
  if (!cap.has_approximate_dp() || !cap.approximate_dp().has_reference()) return absl::OkStatus();
  return accounting::OutOfDomain(path + ".approximateDp.reference", "an event",
                                 "unset: a successor keeps the one of the budget before it, and a "
                                 "session says what it expects");
}

absl::StatusOr<core::CreateBudget> ReadCreateBudget(const v1::CreateBudgetRequest& request) {
  ASSIGN_OR_RETURN(core::BudgetSpec spec, FromProto(request));
  const v1::Cap& cap = request.budget().cap();
  core::CreateBudget command{.spec = std::move(spec)};
  command.any_filter = NamesNoFilter(cap);
  if (cap.has_approximate_dp() && cap.approximate_dp().has_reference()) {
    ASSIGN_OR_RETURN(
        accounting::MechanismEvent event,
        bridge::FromProto(cap.approximate_dp().reference(), "budget.cap.approximateDp.reference"));
    command.reference = std::move(event);
  }
  return command;
}

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
    ASSIGN_OR_RETURN(std::string parent, ParseBudgetName("budget.parent", budget.parent()));
    if (parent == spec.id) {
      return accounting::OutOfDomain("budget.parent", Shown(budget.parent()), "another budget");
    }
    spec.parent_id = std::move(parent);
  }
  ASSIGN_OR_RETURN(core::Cap cap, FromProto(budget.cap(), "budget.cap"));
  if (budget.cap().has_units() && !budget.cap().units().has_reference()) {
    return absl::InvalidArgumentError(
        "budget.cap.units.reference: unset, want the event that units are counted in, best the "
        "step "
        "that most sessions repeat");
  }
  spec.cap = std::move(cap);
  ASSIGN_OR_RETURN(const accounting::NeighboringRelation relation,
                   bridge::FromProto(budget.neighboring_relation(), "budget.neighboringRelation"));
  spec.relation = relation;
  spec.privacy_unit = budget.privacy_unit();
  status = CheckText("budget.privacyUnit", spec.privacy_unit, 1, core::kMaxPrivacyUnitBytes);
  if (!status.ok()) return status;
  if (budget.has_partition()) {
    spec.partition_function = budget.partition().function();
    status = CheckText("budget.partition.function", *spec.partition_function, 1,
                       core::kMaxDisplayNameBytes);
    if (!status.ok()) return status;
  }
  if (budget.has_policy()) {
    ASSIGN_OR_RETURN(core::Policy policy, ReadPolicy(budget.policy(), "budget.policy"));
    spec.policy = std::move(policy);
  }
  ASSIGN_OR_RETURN(core::BudgetDescription description, ReadDescription(budget));
  spec.description = std::move(description);
  return spec;
}

absl::StatusOr<core::UpdateBudget> FromProto(const v1::UpdateBudgetRequest& request) {
  ASSIGN_OR_RETURN(std::string id, ParseBudgetName("budget.name", request.budget().name()));
  RETURN_IF_ERROR(CheckOnlyDescriptionSet(request.budget()));
  core::UpdateBudget update{.budget_id = std::move(id)};
  ASSIGN_OR_RETURN(core::BudgetDescription description, ReadDescription(request.budget()));
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "display_name") {
      update.display_name = description.display_name;
    } else if (path == "labels") {
      update.labels = description.labels;
    } else if (path == "alert_thresholds") {
      update.alert_thresholds = description.alert_thresholds;
    } else {
      return accounting::OutOfDomain("updateMask", Shown(path),
                                     "displayName, labels or alertThresholds: all else never "
                                     "changes");
    }
  }
  if (request.update_mask().paths().empty()) {
    return accounting::OutOfDomain("updateMask", "no field",
                                   "displayName, labels or alertThresholds");
  }
  return update;
}

absl::StatusOr<core::SupersedeBudget> FromProto(const v1::SupersedeBudgetRequest& request) {
  ASSIGN_OR_RETURN(std::string id, ParseBudgetName("name", request.name()));
  absl::Status status = CheckResourceId("successorId", request.successor_id());
  if (status.ok()) status = CheckText("reason", request.reason(), 1, core::kMaxReasonBytes);
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(core::Cap cap, FromProto(request.cap(), "cap"));
  if (status = CheckNoReference(request.cap(), "cap"); !status.ok()) return status;
  return core::SupersedeBudget{.budget_id = std::move(id),
                               .successor_id = request.successor_id(),
                               .cap = std::move(cap),
                               .reason = request.reason(),
                               .any_filter = NamesNoFilter(request.cap())};
}

absl::StatusOr<core::BudgetDescription> ReadDescription(const v1::Budget& budget) {
  core::BudgetDescription description;
  description.display_name = budget.display_name();
  absl::Status status =
      CheckText("budget.displayName", budget.display_name(), 0, core::kMaxDisplayNameBytes);
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(std::vector<core::Label> labels, ReadLabels(budget.labels(), "budget.labels"));
  description.labels = std::move(labels);
  const std::string field = "budget.alertThresholds";
  status =
      accounting::CheckRange(field, budget.alert_thresholds_size(), 0, core::kMaxAlertThresholds);
  if (!status.ok()) return status;
  double before = 0;
  for (const double threshold : budget.alert_thresholds()) {
    if (!(threshold > before && threshold <= 1)) {
      return accounting::OutOfDomain(field, accounting::FormatDouble(threshold),
                                     "rising shares of the cap in (0, 1]");
    }
    description.alert_thresholds.push_back(before = threshold);
  }
  return description;
}

absl::StatusOr<std::vector<core::Label>> ReadLabels(
    const google::protobuf::Map<std::string, std::string>& labels, const std::string& path) {
  absl::Status status =
      accounting::CheckRange(path, static_cast<int64_t>(labels.size()), 0, core::kMaxLabels);
  if (!status.ok()) return status;
  std::map<std::string, std::string> sorted(labels.begin(), labels.end());
  std::vector<core::Label> result;
  for (const auto& [key, value] : sorted) {
    status = CheckLabelKey(path, key);
    if (status.ok()) {
      status =
          CheckText(absl::StrCat(path, "[\"", key, "\"]"), value, 0, core::kMaxLabelValueBytes);
    }
    if (!status.ok()) return status;
    result.push_back({key, value});
  }
  return result;
}

absl::StatusOr<core::Sampler> ReadSampler(v1::Provenance::Sampler sampler,
                                          const std::string& path) {
  RETURN_IF_ERROR(bridge::CheckEnum(sampler, v1::Provenance::Sampler_descriptor(), path));
  return static_cast<core::Sampler>(sampler);  // the same numbers
}

absl::StatusOr<core::Normalizer> ReadNormalizer(v1::Provenance::Normalizer normalizer,
                                                const std::string& path) {
  RETURN_IF_ERROR(bridge::CheckEnum(normalizer, v1::Provenance::Normalizer_descriptor(), path));
  return static_cast<core::Normalizer>(normalizer);  // the same numbers
}

void ToProto(const core::BudgetSpec& spec, v1::Budget* message) {
  message->set_name(FormatBudgetName(spec.id));
  if (!spec.parent_id.empty()) message->set_parent(FormatBudgetName(spec.parent_id));
  ToProto(spec.cap, message->mutable_cap());
  message->set_neighboring_relation(bridge::ToProto(spec.relation));
  message->set_privacy_unit(spec.privacy_unit);
  if (spec.partition_function) {
    message->mutable_partition()->set_function(*spec.partition_function);
  }
  if (spec.policy) ToProto(*spec.policy, message->mutable_policy());
  ToProto(spec.description, message);
}

void ToProto(const core::Ledger& ledger, const core::BudgetState& state, v1::Budget* message) {
  core::BudgetSpec now = state.spec;
  now.description = state.description;
  ToProto(now, message);
  const auto& reference = state.balance.reference();
  if (reference != nullptr && message->cap().has_approximate_dp()) {
    bridge::ToProto(reference->event,
                    message->mutable_cap()->mutable_approximate_dp()->mutable_reference());
  }
  message->set_state(static_cast<v1::Budget::State>(state.phase));  // the same numbers
  message->set_state_reason(state.phase_reason);
  if (!state.superseded_by.empty()) {
    message->set_superseded_by(FormatBudgetName(state.superseded_by));
  }
  if (!state.supersedes.empty()) message->set_supersedes(FormatBudgetName(state.supersedes));
  for (const core::GuardedChange change : state.guarded) {
    message->mutable_approval_policy()->add_guarded(
        static_cast<v1::ApprovalPolicy::Change>(change));  // the same numbers
  }
  const core::CellFilter& filter = state.balance.filter();
  for (size_t i = 0; i < filter.cells.size(); ++i) {
    ToProto(filter.cells[i], state.balance.spent()[i], message->add_cells());
  }
  message->set_all_cells_must_fit(filter.rule != accounting::FilterRule::kAnyCell);
  message->set_spent_fraction(state.balance.SpentFraction());
  message->set_leased_fraction(ledger.LeasedFraction(state));
  message->set_theorem(filter.theorem);
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
