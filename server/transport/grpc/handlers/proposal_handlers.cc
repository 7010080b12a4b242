#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "server/core/access_ledger.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/core/proposal.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/proposal_convert.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

absl::Status NoSuchProposal(const ProposalName& name) {
  return absl::NotFoundError(FormatProposalName(name) + ": there is no such proposal");
}

// Returns nullptr if the proposal does not exist.
const core::Proposal* FindProposal(const core::LedgerReader& reader, const ProposalName& name) {
  const core::Ledger* ledger = reader.LedgerOf(name.budget_id);
  if (ledger == nullptr) return nullptr;
  const auto& proposals = ledger->FindBudget(name.budget_id)->proposals;
  const auto found = proposals.find(name.proposal_id);
  return found == proposals.end() ? nullptr : &found->second;
}

int64_t NowMicros() { return absl::ToUnixMicros(absl::Now()); }

core::Person PersonOf(const core::LedgerReader& reader, const access::Caller& caller) {
  return reader.Access().PersonOf(caller.tenant, caller.principal);
}

// Returns true if the budget is the named one, or below it.
bool IsBelow(const core::Ledger& ledger, const core::BudgetState& budget, std::string_view top) {
  for (const core::BudgetState* at = &budget; at != nullptr;
       at = ledger.FindBudget(at->spec.parent_id)) {
    if (at->spec.id == top) return true;
  }
  return false;
}

absl::Status CheckFields(const v1::RejectProposalRequest& request) {
  return CheckText("reason", request.reason(), 1, core::kMaxReasonBytes);
}

absl::Status CheckFields(const v1::ApproveProposalRequest& request) {
  // No ledger has more entries than that.
  RETURN_IF_ERROR(accounting::CheckRange("sequence", request.sequence(), 1, int64_t{1} << 53));
  return CheckText("reason", request.reason(), 1, core::kMaxReasonBytes);
}

class ProposalHandlers {
 public:
  explicit ProposalHandlers(HandlerContext context) : context_(std::move(context)) {}

  void CreateProposal(wire::UnaryRequest arrived) {
    Handle<v1::CreateProposalRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::CreateProposalRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::ProposeChange> command = FromProto(request, NowMicros());
          if (!command.ok()) return command.status();
          ReadState(context_.ledger, call,
                    [&ledger = context_.ledger, command = *std::move(command),
                     call](core::LedgerReader& reader) mutable {
                      command.proposer = PersonOf(reader, call->caller());
                      SubmitNow<core::ProposalOutcome>(
                          ledger, std::move(command), {}, call,
                          [&ledger, call](const core::ProposalOutcome& outcome) {
                            Answer(ledger, {outcome.budget_id, outcome.proposal_id}, call);
                          });
                      return absl::OkStatus();
                    });
          return absl::OkStatus();
        });
  }

  void GetProposal(wire::UnaryRequest arrived) {
    Handle<v1::GetProposalRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetProposalRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(ProposalName name, ParseProposalName("name", request.name()));
          Answer(context_.ledger, std::move(name), call);
          return absl::OkStatus();
        });
  }

  void ListProposals(wire::UnaryRequest arrived) {
    Handle<v1::ListProposalsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListProposalsRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("parent", request.parent());
          if (!id.ok()) return id.status();
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          const std::string list = absl::StrCat(request.parent(), "/proposals",
                                                request.pending_only() ? " pending" : "");
          ASSIGN_OR_RETURN(const std::string token, ReadPageToken(list, request.page_token()));
          Place after = absl::StrSplit(token, absl::MaxSplits('/', 1));
          ReadState(context_.ledger, call,
                    [id = *std::move(id), list, after = std::move(after), size = *size,
                     pending_only = request.pending_only(), call](core::LedgerReader& reader) {
                      return AnswerList(reader, id, list, after, size, pending_only, call);
                    });
          return absl::OkStatus();
        });
  }

  void ApproveProposal(wire::UnaryRequest arrived) {
    Resolve<v1::ApproveProposalRequest>(
        std::move(arrived),
        [](core::DurableLedger& ledger, const core::Proposal& proposal,
           const v1::ApproveProposalRequest& request, core::Person person, const Call& call) {
          const ProposalName name{proposal.asked.budget_id, proposal.asked.proposal_id};
          // Before the command is decided the proposal may be forgotten and another one may have
          // its name.
          SubmitNow<core::BudgetOutcome>(
              ledger, core::CommandFor(proposal.asked),
              {.approval = core::Approval{.proposal_id = name.proposal_id,
                                          .sequence = request.sequence(),
                                          .approver = std::move(person),
                                          .reason = request.reason()}},
              call,
              [&ledger, name, call](const core::BudgetOutcome&) { Answer(ledger, name, call); });
        });
  }

  void RejectProposal(wire::UnaryRequest arrived) {
    Resolve<v1::RejectProposalRequest>(
        std::move(arrived),
        [](core::DurableLedger& ledger, const core::Proposal& proposal,
           const v1::RejectProposalRequest& request, core::Person person, const Call& call) {
          const ProposalName name{proposal.asked.budget_id, proposal.asked.proposal_id};
          SubmitNow<core::ProposalOutcome>(
              ledger,
              core::RejectProposal{name.budget_id, name.proposal_id, std::move(person),
                                   request.reason()},
              {}, call,
              [&ledger, name, call](const core::ProposalOutcome&) { Answer(ledger, name, call); });
        });
  }

 private:
  // The position of a proposal in a list: its budget's id and its own.
  using Place = std::pair<std::string, std::string>;

  // Approving and rejecting differ in the submitted command: `submit(ledger, proposal, request,
  // who, call)`.
  template <class Request, class Submit>
  void Resolve(wire::UnaryRequest arrived, Submit submit) {
    Handle<Request>(context_.open_calls, std::move(arrived),
                    [this, submit](const Request& request, const Call& call) -> absl::Status {
                      absl::StatusOr<ProposalName> name = ParseProposalName("name", request.name());
                      if (!name.ok()) return name.status();
                      RETURN_IF_ERROR(CheckFields(request));
                      ReadState(context_.ledger, call,
                                [&ledger = context_.ledger, name = *std::move(name), request,
                                 submit, call](core::LedgerReader& reader) -> absl::Status {
                                  const core::Proposal* proposal = FindProposal(reader, name);
                                  if (proposal == nullptr) return NoSuchProposal(name);
                                  submit(ledger, *proposal, request,
                                         PersonOf(reader, call->caller()), call);
                                  return absl::OkStatus();
                                });
                      return absl::OkStatus();
                    });
  }

  static void Answer(core::DurableLedger& ledger, ProposalName name, const Call& call) {
    ReadState(ledger, call,
              [name = std::move(name), call](core::LedgerReader& reader) -> absl::Status {
                const core::Proposal* proposal = FindProposal(reader, name);
                if (proposal == nullptr) return NoSuchProposal(name);
                v1::Proposal message;
                ToProto(*proposal, NowMicros(), &message);
                call->Succeed(message);
                return absl::OkStatus();
              });
  }

  static absl::Status AnswerList(core::LedgerReader& reader, const std::string& budget_id,
                                 const std::string& list, const Place& after, int64_t size,
                                 bool pending_only, const Call& call) {
    const core::Ledger* ledger = reader.LedgerOf(budget_id);
    if (ledger == nullptr) return NoSuchBudget(budget_id);
    const int64_t now = NowMicros();
    v1::ListProposalsResponse response;
    Place last;
    for (const auto& [id, budget] : ledger->budgets()) {
      if (budget.proposals.empty() || !IsBelow(*ledger, budget, budget_id)) continue;
      for (const auto& [proposal_id, proposal] : budget.proposals) {
        if (std::pair(id, proposal_id) <= after) continue;
        if (pending_only &&
            (proposal.state != core::ProposalState::kPending || core::HasExpired(proposal, now))) {
          continue;
        }
        if (response.proposals_size() == size) {
          response.set_next_page_token(MakePageToken(list, last.first + "/" + last.second));
          call->Succeed(response);
          return absl::OkStatus();
        }
        ToProto(proposal, now, response.add_proposals());
        last = {id, proposal_id};
      }
    }
    call->Succeed(response);
    return absl::OkStatus();
  }

  const HandlerContext context_;
};

}  // namespace

void AddProposalService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.ProposalService", std::make_shared<ProposalHandlers>(context),
              {{"CreateProposal", &ProposalHandlers::CreateProposal},
               {"GetProposal", &ProposalHandlers::GetProposal},
               {"ListProposals", &ProposalHandlers::ListProposals},
               {"ApproveProposal", &ProposalHandlers::ApproveProposal},
               {"RejectProposal", &ProposalHandlers::RejectProposal}});
}

}  // namespace epsledger::transport
