#include "server/transport/grpc/converters/proposal_convert.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/mechanism_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/output_only.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr int64_t kUsualLifeMicros = int64_t{7} * 24 * 60 * 60 * 1'000'000;

// Returns the path of a field that another request names without the prefix "proposal.createChild".
absl::Status Below(const absl::Status& status, const char* path) {
  if (status.code() != absl::StatusCode::kInvalidArgument) return status;
  return absl::InvalidArgumentError(absl::StrCat(path, ".", std::string(status.message())));
}

absl::StatusOr<core::ProposedChange> ReadChild(const v1::Proposal::Child& child,
                                               const std::string& parent_id) {
  v1::CreateBudgetRequest request;
  request.set_budget_id(child.budget_id());
  if (child.has_budget()) *request.mutable_budget() = child.budget();
  if (request.has_budget() && request.budget().parent().empty()) {
    request.mutable_budget()->set_parent(FormatBudgetName(parent_id));
  }
  absl::StatusOr<core::CreateBudget> create = ReadCreateBudget(request);
  if (!create.ok()) return Below(create.status(), "proposal.createChild");
  if (create->spec.parent_id != parent_id) {
    return accounting::OutOfDomain("proposal.createChild.budget.parent",
                                   Shown(child.budget().parent()),
                                   absl::StrCat("unset or ", FormatBudgetName(parent_id)));
  }
  core::ProposedChild change{
      .spec = std::move(create->spec), .reference = {}, .any_filter = create->any_filter};
  if (create->reference.has_value()) change.reference = *std::move(create->reference);
  return change;
}

absl::StatusOr<core::ProposedChange> ReadSuccessor(const v1::Proposal::Successor& successor,
                                                   const v1::CreateProposalRequest& proposal) {
  v1::SupersedeBudgetRequest request;
  request.set_name(proposal.parent());
  request.set_successor_id(successor.successor_id());
  if (successor.has_cap()) *request.mutable_cap() = successor.cap();
  request.set_reason(proposal.proposal().reason());
  absl::StatusOr<core::SupersedeBudget> supersede = FromProto(request);
  if (!supersede.ok()) return Below(supersede.status(), "proposal.supersede");
  return core::ProposedSuccessor{.successor_id = std::move(supersede->successor_id),
                                 .cap = std::move(supersede->cap),
                                 .any_filter = supersede->any_filter};
}

absl::StatusOr<core::ProposedChange> ReadChange(const v1::CreateProposalRequest& request,
                                                const std::string& budget_id) {
  switch (request.proposal().change_case()) {
    case v1::Proposal::kCreateChild:
      return ReadChild(request.proposal().create_child(), budget_id);
    case v1::Proposal::kSupersede:
      return ReadSuccessor(request.proposal().supersede(), request);
    case v1::Proposal::kClose:
      return core::ProposedPhase{core::BudgetPhase::kClosed};
    case v1::Proposal::kThaw:
      return core::ProposedPhase{core::BudgetPhase::kActive};
    case v1::Proposal::kSetApprovalPolicy: {
      ASSIGN_OR_RETURN(
          std::vector<core::GuardedChange> guarded,
          FromProto(request.proposal().set_approval_policy(), "proposal.setApprovalPolicy"));
      return core::ProposedPolicy{std::move(guarded)};
    }
    case v1::Proposal::CHANGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "proposal: got no change, want one of createChild, supersede, close, thaw, "
      "setApprovalPolicy");
}

void WriteChange(const core::ProposedChange& change, v1::Proposal* message) {
  std::visit(
      [&](const auto& what) {
        using Change = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<Change, core::ProposedChild>) {
          v1::Proposal::Child& child = *message->mutable_create_child();
          child.set_budget_id(what.spec.id);
          ToProto(what.spec, child.mutable_budget());
          if (what.reference.has_value()) {
            bridge::ToProto(**what.reference, child.mutable_budget()
                                                  ->mutable_cap()
                                                  ->mutable_approximate_dp()
                                                  ->mutable_reference());
          }
        } else if constexpr (std::is_same_v<Change, core::ProposedSuccessor>) {
          message->mutable_supersede()->set_successor_id(what.successor_id);
          ToProto(what.cap, message->mutable_supersede()->mutable_cap());
        } else if constexpr (std::is_same_v<Change, core::ProposedPhase>) {
          if (what.phase == core::BudgetPhase::kClosed) {
            message->mutable_close();
          } else {
            message->mutable_thaw();
          }
        } else {
          ToProto(what.guarded, message->mutable_set_approval_policy());
        }
      },
      change);
}

}  // namespace

absl::StatusOr<std::vector<core::GuardedChange>> FromProto(const v1::ApprovalPolicy& policy,
                                                           const std::string& path) {
  std::vector<core::GuardedChange> guarded;
  for (int i = 0; i < policy.guarded_size(); ++i) {
    const std::string field = absl::StrCat(path, ".guarded[", i, "]");
    RETURN_IF_ERROR(
        bridge::CheckEnum(policy.guarded(i), v1::ApprovalPolicy::Change_descriptor(), field));
    const auto change = static_cast<core::GuardedChange>(policy.guarded(i));  // the same numbers
    if (std::find(guarded.begin(), guarded.end(), change) != guarded.end()) {
      return accounting::OutOfDomain(field, core::Name(change), "each change once");
    }
    guarded.push_back(change);
  }
  std::sort(guarded.begin(), guarded.end());
  return guarded;
}

void ToProto(const std::vector<core::GuardedChange>& guarded, v1::ApprovalPolicy* message) {
  for (const core::GuardedChange change : guarded) {
    message->add_guarded(static_cast<v1::ApprovalPolicy::Change>(change));
  }
}

absl::StatusOr<core::ProposeChange> FromProto(const v1::CreateProposalRequest& request,
                                              int64_t now_micros) {
  ASSIGN_OR_RETURN(std::string budget_id, ParseBudgetName("parent", request.parent()));
  absl::Status status = CheckResourceId("proposalId", request.proposal_id());
  if (!status.ok()) return status;
  if (!request.has_proposal()) {
    return absl::InvalidArgumentError("proposal: unset, want a proposal");
  }
  const v1::Proposal& proposal = request.proposal();
  const std::string name = FormatProposalName({budget_id, request.proposal_id()});
  if (!proposal.name().empty() && proposal.name() != name) {
    return accounting::OutOfDomain("proposal.name", Shown(proposal.name()),
                                   absl::StrCat("unset or ", name));
  }
  status = CheckOutputOnlyUnset(proposal, "proposal");
  if (status.ok())
    status = CheckText("proposal.reason", proposal.reason(), 1, core::kMaxReasonBytes);
  if (!status.ok()) return status;
  int64_t expire_micros = now_micros + kUsualLifeMicros;
  if (proposal.has_expire_time()) {
    const absl::Time expire = absl::FromUnixSeconds(proposal.expire_time().seconds()) +
                              absl::Nanoseconds(proposal.expire_time().nanos());
    expire_micros = absl::ToUnixMicros(expire);
    if (expire_micros <= now_micros || expire_micros > now_micros + core::kMaxProposalLifeMicros) {
      return accounting::OutOfDomain("proposal.expireTime", absl::FormatTime(expire),
                                     "a time in the future, at most 90 days away");
    }
  }
  ASSIGN_OR_RETURN(core::ProposedChange change, ReadChange(request, budget_id));
  return core::ProposeChange{.budget_id = std::move(budget_id),
                             .proposal_id = request.proposal_id(),
                             .change = std::move(change),
                             .reason = proposal.reason(),
                             .proposer = {},
                             .expire_time_micros = expire_micros};
}

void ToProto(const core::Proposal& proposal, int64_t now_micros, v1::Proposal* message) {
  const core::ProposeChange& asked = proposal.asked;
  message->set_name(FormatProposalName({asked.budget_id, asked.proposal_id}));
  WriteChange(asked.change, message);
  message->set_reason(asked.reason);
  ToProto(asked.expire_time_micros, message->mutable_expire_time());
  message->set_state(core::HasExpired(proposal, now_micros)
                         ? v1::Proposal::EXPIRED
                         : static_cast<v1::Proposal::State>(proposal.state));  // the same numbers
  message->set_proposed_by(asked.proposer.principal);
  ToProto(proposal.create_time_micros, message->mutable_create_time());
  message->set_sequence(proposal.sequence);
  if (proposal.resolve_time_micros == 0) return;
  message->set_resolved_by(proposal.resolved_by);
  ToProto(proposal.resolve_time_micros, message->mutable_resolve_time());
  message->set_resolve_reason(proposal.resolve_reason);
}

}  // namespace epsledger::transport
