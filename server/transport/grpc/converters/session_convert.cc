#include "server/transport/grpc/converters/session_convert.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/mechanism_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/audit_record_convert.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/converters/output_only.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

using accounting::OutOfDomain;

absl::Status ReadAdaptive(const v1::Session& session, core::SessionSpec* spec) {
  if (session.has_own_cap() == session.no_own_cap()) {
    return OutOfDomain(
        "session.ownCap", session.no_own_cap() ? "a cap and noOwnCap" : "neither cap nor noOwnCap",
        "exactly one of ownCap and noOwnCap for ADAPTIVE: an unset cap is not unlimited");
  }
  if (session.has_plan()) {
    return OutOfDomain("session.plan", "a plan", "unset: only DECLARED has one");
  }
  if (session.plan_delta() != 0) {  // NaN included
    return OutOfDomain("session.planDelta", accounting::FormatDouble(session.plan_delta()),
                       "unset: only DECLARED has one");
  }
  if (session.has_own_cap()) {
    ASSIGN_OR_RETURN(core::Cap cap, FromProto(session.own_cap(), "session.ownCap"));
    if (std::holds_alternative<core::UnitsCap>(cap)) {
      return OutOfDomain("session.ownCap", "units",
                         "another currency: a budget can have such a cap and hold the session");
    }
    spec->own_cap = std::move(cap);
  }
  return absl::OkStatus();
}

absl::Status ReadDeclared(const v1::Session& session, core::SessionSpec* spec) {
  if (session.no_own_cap()) {
    return OutOfDomain("session.noOwnCap", "true", "false: the plan is the cap of DECLARED");
  }
  if (session.has_own_cap()) {
    ASSIGN_OR_RETURN(core::Cap cap, FromProto(session.own_cap(), "session.ownCap"));
    if (!std::holds_alternative<core::ApproximateDpCap>(cap) &&
        !std::holds_alternative<core::TradeOffCurveCap>(cap)) {
      return OutOfDomain("session.ownCap", "another currency",
                         "approximateDp or tradeOffCurve, in which a plan is composed");
    }
    spec->own_cap = std::move(cap);
  }
  const int size = session.plan().events_size();
  if (size < 1 || size > core::kMaxPlanEvents) {
    return OutOfDomain("session.plan.events", absl::StrCat(size, " events"),
                       absl::StrCat("1 to ", core::kMaxPlanEvents, " for DECLARED"));
  }
  ASSIGN_OR_RETURN(std::vector<accounting::CountedEvent> plan,
                   bridge::FromProto(session.plan().events(), "session.plan.events"));
  spec->plan = std::move(plan);
  spec->plan_delta = session.plan_delta();
  return accounting::CheckInterval("session.planDelta", spec->plan_delta,
                                   accounting::kOpenProbability);
}

absl::StatusOr<core::Claim> ReadClaim(const v1::Claim& message) {
  absl::Status status = CheckOutputOnlyUnset(message, "session.claim");
  if (status.ok()) {
    status =
        bridge::CheckEnum(message.status(), v1::Claim::Status_descriptor(), "session.claim.status");
  }
  if (status.ok()) {
    status = accounting::CheckInterval("session.claim.epsilon", message.epsilon(),
                                       accounting::kNonNegative);
  }
  if (status.ok() && !(message.delta() >= 0 && message.delta() < 1)) {
    status =
        OutOfDomain("session.claim.delta", accounting::FormatDouble(message.delta()), "in [0, 1)");
  }
  if (status.ok()) {
    status = CheckText("session.claim.source", message.source(), 0, core::kMaxDisplayNameBytes);
  }
  if (!status.ok()) return status;
  return core::Claim{.status = static_cast<core::ClaimStatus>(message.status()),
                     .epsilon = message.epsilon(),
                     .delta = message.delta(),
                     .source = message.source()};
}

}  // namespace

absl::StatusOr<core::Provenance> FromProto(const v1::Provenance& message, const std::string& path) {
  core::Provenance provenance;
  if (message.sampler() != v1::Provenance::SAMPLER_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const core::Sampler sampler,
                     ReadSampler(message.sampler(), path + ".sampler"));
    provenance.sampler = sampler;
  }
  if (message.normalizer() != v1::Provenance::NORMALIZER_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const core::Normalizer normalizer,
                     ReadNormalizer(message.normalizer(), path + ".normalizer"));
    provenance.normalizer = normalizer;
  }
  absl::Status status =
      accounting::CheckInterval(path + ".clipNorm", message.clip_norm(), accounting::kNonNegative);
  if (status.ok()) {
    status = CheckText(path + ".library", message.library(), 0, core::kMaxLibraryBytes);
  }
  if (status.ok()) {
    status =
        CheckText(path + ".libraryVersion", message.library_version(), 0, core::kMaxLibraryBytes);
  }
  if (!status.ok()) return status;
  provenance.clip_norm = message.clip_norm();
  provenance.library = message.library();
  provenance.library_version = message.library_version();
  return provenance;
}

void ToProto(const core::Provenance& provenance, v1::Provenance* message) {
  if (provenance.sampler) {
    message->set_sampler(static_cast<v1::Provenance::Sampler>(*provenance.sampler));
  }
  message->set_clip_norm(provenance.clip_norm);
  message->set_library(provenance.library);
  message->set_library_version(provenance.library_version);
  if (provenance.normalizer) {
    message->set_normalizer(static_cast<v1::Provenance::Normalizer>(*provenance.normalizer));
  }
}

absl::StatusOr<core::CreateSession> ReadCreateSession(const v1::CreateSessionRequest& request) {
  ASSIGN_OR_RETURN(core::SessionSpec spec, FromProto(request));
  core::CreateSession command{.spec = std::move(spec)};
  const v1::Cap& own_cap = request.session().own_cap();
  RETURN_IF_ERROR(CheckNoReference(own_cap, "session.ownCap"));
  command.any_filter = NamesNoFilter(own_cap);
  if (request.has_expects()) {
    ASSIGN_OR_RETURN(accounting::MechanismEvent event,
                     bridge::FromProto(request.expects(), "expects"));
    command.expects = std::move(event);
  }
  return command;
}

absl::StatusOr<core::SessionSpec> FromProto(const v1::CreateSessionRequest& request) {
  core::SessionSpec spec;
  ASSIGN_OR_RETURN(std::string budget_id, ParseBudgetName("parent", request.parent()));
  spec.budget_id = std::move(budget_id);
  absl::Status status = CheckResourceId("sessionId", request.session_id());
  if (!status.ok()) return status;
  spec.id = request.session_id();
  if (!request.has_session()) {
    return absl::InvalidArgumentError("session: unset, want a session");
  }
  const v1::Session& session = request.session();
  const std::string name = FormatSessionName({spec.budget_id, spec.id});
  if (!session.name().empty() && session.name() != name) {
    return OutOfDomain("session.name", Shown(session.name()), absl::StrCat("unset or ", name));
  }
  status = CheckOutputOnlyUnset(session, "session");
  if (!status.ok()) return status;
  status = bridge::CheckEnum(session.mode(), v1::Session::Mode_descriptor(), "session.mode");
  if (!status.ok()) return status;
  spec.mode = static_cast<core::SessionMode>(session.mode());  // the same numbers
  ASSIGN_OR_RETURN(
      const accounting::NeighboringRelation relation,
      bridge::FromProto(session.neighboring_relation(), "session.neighboringRelation"));
  spec.relation = relation;
  spec.display_name = session.display_name();
  status = CheckText("session.displayName", spec.display_name, 0, core::kMaxDisplayNameBytes);
  if (!status.ok()) return status;
  spec.group = session.group();
  if (!spec.group.empty()) {
    status = CheckResourceId("session.group", spec.group);
    if (!status.ok()) return status;
  }
  ASSIGN_OR_RETURN(std::vector<core::Label> labels, ReadLabels(session.labels(), "session.labels"));
  spec.labels = std::move(labels);
  if (session.has_claim()) {
    ASSIGN_OR_RETURN(core::Claim claim, ReadClaim(session.claim()));
    spec.claim = std::move(claim);
  }
  status = spec.mode == core::SessionMode::kAdaptive ? ReadAdaptive(session, &spec)
                                                     : ReadDeclared(session, &spec);
  if (!status.ok()) return status;
  return spec;
}

namespace {

void SpecWithoutPlan(const core::SessionSpec& spec, v1::Session* message) {
  message->set_name(FormatSessionName({spec.budget_id, spec.id}));
  message->set_mode(static_cast<v1::Session::Mode>(spec.mode));
  message->set_neighboring_relation(bridge::ToProto(spec.relation));
  if (spec.own_cap) {
    ToProto(*spec.own_cap, message->mutable_own_cap());
  } else {
    message->set_no_own_cap(spec.mode == core::SessionMode::kAdaptive);
  }
  message->set_plan_delta(spec.plan_delta);
  message->set_display_name(spec.display_name);
  message->set_group(spec.group);
  for (const core::Label& label : spec.labels) {
    (*message->mutable_labels())[label.key] = label.value;
  }
  if (spec.claim) {
    v1::Claim* claim = message->mutable_claim();
    claim->set_status(static_cast<v1::Claim::Status>(spec.claim->status));
    claim->set_epsilon(spec.claim->epsilon);
    claim->set_delta(spec.claim->delta);
    claim->set_source(spec.claim->source);
    claim->set_label(core::LabelOf(spec.claim->status));
    claim->set_counterexample_known(spec.claim->status == core::ClaimStatus::kCounterexampleKnown);
  }
}

// Writes what belongs to an existing session and takes a few bytes.
void AddOutline(const core::SessionState& state, v1::Session* message) {
  message->set_state(state.closed ? v1::Session::CLOSED : v1::Session::ACTIVE);
  message->set_state_reason(state.close_reason);
  message->set_current_attempt(state.current_attempt);
  message->set_open_lease_count(static_cast<int64_t>(state.open_leases.size()));
  message->set_audit_count(state.audit_count);
  message->set_step_count(StepCountOf(state));
  message->set_accepted_charge_count(state.accepted_charge_count);
  message->set_refused_charge_count(state.refused_charge_count);
  ToProto(state.create_time_micros, message->mutable_create_time());
}

void AddLeases(const core::SessionState& state, v1::Session* message) {
  const core::SessionName name{state.spec.budget_id, state.spec.id};
  int64_t bytes = message->events_omitted() ? kMaxShownEventBytes : 0;
  for (const core::OpenLease& lease : state.open_leases) {
    if (message->open_leases_size() == static_cast<int>(kMaxShownLeases)) break;
    v1::Lease& shown = *message->add_open_leases();
    ToProto(name, lease, &shown);
    if (bytes >= kMaxShownEventBytes) continue;
    bridge::ToProto(*state.events[lease.event_index].event, shown.mutable_event());
    bytes += static_cast<int64_t>(shown.event().ByteSizeLong());
  }
}

}  // namespace

int64_t StepCountOf(const core::SessionState& state) {
  int64_t steps = 0;
  for (const core::SessionEvent& event : state.events) {
    steps += std::min(event.accepted_count, std::numeric_limits<int64_t>::max() - steps);
  }
  return steps;
}

void AddPlan(const std::vector<accounting::CountedEvent>& plan, v1::Session* message) {
  for (const accounting::CountedEvent& event : plan) {
    bridge::ToProto(event, message->mutable_plan()->add_events());
  }
}

void ToProto(const core::SessionSpec& spec, v1::Session* message) {
  SpecWithoutPlan(spec, message);
  AddPlan(spec.plan, message);
}

void ToProto(const core::SessionState& state, v1::Session* message) {
  SpecWithoutPlan(state.spec, message);
  message->set_events_omitted(state.event_bytes > kMaxShownEventBytes);
  if (!message->events_omitted()) AddPlan(state.spec.plan, message);
  AddOutline(state, message);
  if (state.current_attempt > 0) ToProto(state.provenance, message->mutable_provenance());
  if (state.own_balance.has_value() && state.own_balance->reference() != nullptr) {
    bridge::ToProto(state.own_balance->reference()->event,
                    message->mutable_own_cap()->mutable_approximate_dp()->mutable_reference());
  }
  AddLeases(state, message);
  for (const core::RecordedAudit& recorded : state.audits) {
    ToProto(recorded, state.spec.claim, message->add_audits());
  }
  for (const core::SessionEvent& event : state.events) {
    if (event.accepted_count == 0 || message->events_omitted()) continue;
    bridge::ToProto(accounting::CountedEvent{event.event, event.accepted_count},
                    message->add_history());
  }
  if (state.own_balance) {
    const core::CellFilter& filter = state.own_balance->filter();
    for (size_t i = 0; i < filter.cells.size(); ++i) {
      ToProto(filter.cells[i], state.own_balance->spent()[i], message->add_cells());
    }
    message->set_all_cells_must_fit(filter.rule != accounting::FilterRule::kAnyCell);
  }
  if (state.plan_charge) {
    v1::Guarantee* guarantee = message->mutable_plan_guarantee();
    guarantee->set_kind(v1::Guarantee::UPPER_BOUND);
    guarantee->set_accountant(v1::Accountant::BEST);
    guarantee->set_theorem(state.plan_charge->theorem);
    guarantee->set_upper(state.plan_charge->epsilon);
    for (size_t i = 0; i < state.spec.plan.size(); ++i) {
      message->add_tickets_left(state.TicketsLeft(static_cast<int64_t>(i)));
    }
  }
}

void ToOutline(const core::SessionState& state, v1::Session* message) {
  SpecWithoutPlan(state.spec, message);
  message->set_events_omitted(true);
  AddOutline(state, message);
}

}  // namespace epsledger::transport
