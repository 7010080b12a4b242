#include "server/transport/grpc/converters/audit_record_convert.h"

#include <utility>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/output_only.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

using accounting::CheckInterval;

// Collects what is wrong with the fields of an audit, one after the other.
absl::Status Check(const v1::SessionAudit& audit) {
  absl::Status status = CheckOutputOnlyUnset(audit, "audit");
  if (status.ok()) {
    status = bridge::CheckEnum(audit.method(), v1::AuditCanariesRequest::Method_descriptor(),
                               "audit.method");
  }
  if (status.ok()) {
    status = bridge::CheckEnum(
        audit.hypothesis(), v1::AuditCanariesResponse::Hypothesis_descriptor(), "audit.hypothesis");
  }
  if (status.ok()) {
    status = CheckInterval("audit.epsilonLowerBound", audit.epsilon_lower_bound(),
                           accounting::kNonNegative);
  }
  if (status.ok()) {
    status = CheckInterval("audit.delta", audit.delta(), accounting::Interval{0, 1, true, false});
  }
  if (status.ok()) {
    status = CheckInterval("audit.confidence", audit.confidence(), accounting::kOpenProbability);
  }
  if (status.ok()) {
    status = accounting::CheckRange("audit.trials", audit.trials(), 1, core::kMaxAuditTrials);
  }
  if (status.ok() && audit.has_mu_lower_bound()) {
    status = CheckInterval("audit.muLowerBound", audit.mu_lower_bound(), accounting::kNonNegative);
  }
  if (status.ok() && audit.has_claimed_epsilon()) {
    status =
        CheckInterval("audit.claimedEpsilon", audit.claimed_epsilon(), accounting::kNonNegative);
  }
  if (status.ok()) status = CheckText("audit.source", audit.source(), 0, core::kMaxReasonBytes);
  return status;
}

}  // namespace

absl::StatusOr<core::RecordAudit> FromProto(const v1::RecordAuditRequest& request) {
  ASSIGN_OR_RETURN(core::SessionName session, ParseSessionName("session", request.session()));
  if (!request.has_audit()) {
    return accounting::OutOfDomain("audit", "nothing", "what the audit found");
  }
  const v1::SessionAudit& audit = request.audit();
  RETURN_IF_ERROR(Check(audit));
  core::RecordAudit command{.session = std::move(session), .audit = {}};
  command.audit.method = static_cast<accounting::AuditMethod>(audit.method());
  command.audit.hypothesis = static_cast<accounting::AuditHypothesis>(audit.hypothesis());
  command.audit.epsilon_lower = audit.epsilon_lower_bound();
  command.audit.delta = audit.delta();
  command.audit.confidence = audit.confidence();
  command.audit.trials = audit.trials();
  if (audit.has_mu_lower_bound()) command.audit.mu_lower = audit.mu_lower_bound();
  if (audit.has_claimed_epsilon()) command.audit.claimed_epsilon = audit.claimed_epsilon();
  command.audit.source = audit.source();
  return command;
}

void ToProto(const core::RecordedAudit& recorded, const std::optional<core::Claim>& claim,
             v1::SessionAudit* message) {
  const core::AuditRecord& audit = recorded.audit;
  message->set_method(static_cast<v1::AuditCanariesRequest::Method>(audit.method));
  message->set_hypothesis(static_cast<v1::AuditCanariesResponse::Hypothesis>(audit.hypothesis));
  message->set_epsilon_lower_bound(audit.epsilon_lower);
  message->set_delta(audit.delta);
  message->set_confidence(audit.confidence);
  message->set_trials(audit.trials);
  if (audit.mu_lower) message->set_mu_lower_bound(*audit.mu_lower);
  if (audit.claimed_epsilon) message->set_claimed_epsilon(*audit.claimed_epsilon);
  message->set_source(audit.source);
  message->set_exceeds_claim(core::ExceedsClaim(audit, claim));
  message->set_sequence(recorded.sequence);
  ToProto(recorded.time_micros, message->mutable_create_time());
}

}  // namespace epsledger::transport
