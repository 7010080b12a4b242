#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accounting/event/status_macros.h"
#include "epsledger/v1/budget_service.pb.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/proposal_convert.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/handlers/budget_pages.h"
#include "server/transport/grpc/handlers/budget_readings.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/handlers/watch.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

absl::Status AnswerBudget(core::LedgerReader& reader, const std::string& id, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(id);
  const core::BudgetState* budget = ledger == nullptr ? nullptr : ledger->FindBudget(id);
  if (budget == nullptr) return NoSuchBudget(id);
  v1::Budget message;
  ToProto(*ledger, *budget, &message);
  call->Succeed(message);
  return absl::OkStatus();
}

class BudgetHandlers {
 public:
  explicit BudgetHandlers(HandlerContext context) : context_(std::move(context)) {}

  void CreateBudget(wire::UnaryRequest arrived) {
    Handle<v1::CreateBudgetRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::CreateBudgetRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::CreateBudget command, ReadCreateBudget(request));
          SubmitAndAnswer(std::move(command), request.validate_only(), call);
          return absl::OkStatus();
        });
  }

  void GetBudget(wire::UnaryRequest arrived) {
    Handle<v1::GetBudgetRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetBudgetRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("name", request.name());
          if (!id.ok()) return id.status();
          ReadState(context_.ledger, call, [call, id = *std::move(id)](core::LedgerReader& reader) {
            return AnswerBudget(reader, id, call);
          });
          return absl::OkStatus();
        });
  }

  void ListBudgets(wire::UnaryRequest arrived) {
    Handle<v1::ListBudgetsRequest>(context_.open_calls, std::move(arrived),
                                   [this](const v1::ListBudgetsRequest& request, const Call& call) {
                                     return transport::ListBudgets(context_, request, call);
                                   });
  }

  void UpdateBudget(wire::UnaryRequest arrived) {
    Handle<v1::UpdateBudgetRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::UpdateBudgetRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::UpdateBudget update, FromProto(request));
          SubmitAndAnswer(std::move(update), request.validate_only(), call);
          return absl::OkStatus();
        });
  }

  void FreezeBudget(wire::UnaryRequest arrived) {
    ChangePhase<v1::FreezeBudgetRequest>(core::BudgetPhase::kFrozen, std::move(arrived));
  }
  void ThawBudget(wire::UnaryRequest arrived) {
    ChangePhase<v1::ThawBudgetRequest>(core::BudgetPhase::kActive, std::move(arrived));
  }
  void CloseBudget(wire::UnaryRequest arrived) {
    ChangePhase<v1::CloseBudgetRequest>(core::BudgetPhase::kClosed, std::move(arrived));
  }

  void SupersedeBudget(wire::UnaryRequest arrived) {
    Handle<v1::SupersedeBudgetRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::SupersedeBudgetRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SupersedeBudget supersede, FromProto(request));
          SubmitAndAnswer(std::move(supersede), request.validate_only(), call);
          return absl::OkStatus();
        });
  }

  void SetApprovalPolicy(wire::UnaryRequest arrived) {
    Handle<v1::SetApprovalPolicyRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::SetApprovalPolicyRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(std::string id, ParseBudgetName("name", request.name()));
          if (!request.has_policy()) {
            return absl::InvalidArgumentError(
                "policy: unset, want a policy; an empty one guards nothing");
          }
          ASSIGN_OR_RETURN(std::vector<core::GuardedChange> guarded,
                           FromProto(request.policy(), "policy"));
          SubmitAndAnswer(core::SetApprovalPolicy{std::move(id), std::move(guarded)},
                          request.validate_only(), call);
          return absl::OkStatus();
        });
  }

  void GetBudgetTree(wire::UnaryRequest arrived) {
    Handle<v1::GetBudgetTreeRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetBudgetTreeRequest& request, const Call& call) {
          return transport::GetBudgetTree(context_, request, call);
        });
  }

  void GetBudgetGuarantees(wire::UnaryRequest arrived) {
    Handle<v1::GetBudgetGuaranteesRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetBudgetGuaranteesRequest& request, const Call& call) {
          return transport::GetBudgetGuarantees(context_, request, call);
        });
  }

  void GetBudgetActivity(wire::UnaryRequest arrived) {
    Handle<v1::GetBudgetActivityRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetBudgetActivityRequest& request, const Call& call) {
          return transport::GetBudgetActivity(context_, request, call);
        });
  }

  void ListBudgetReadings(wire::UnaryRequest arrived) {
    Handle<v1::ListBudgetReadingsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListBudgetReadingsRequest& request, const Call& call) {
          return transport::ListBudgetReadings(context_, reading_cache_, request, call);
        });
  }

 private:
  // Freezing, thawing and closing differ only in the phase.
  template <class Request>
  void ChangePhase(core::BudgetPhase phase, wire::UnaryRequest arrived) {
    Handle<Request>(
        context_.open_calls, std::move(arrived),
        [this, phase](const Request& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(std::string id, ParseBudgetName("name", request.name()));
          RETURN_IF_ERROR(CheckText("reason", request.reason(), 1, core::kMaxReasonBytes));
          SubmitAndAnswer(core::ChangeBudgetPhase{std::move(id), phase, request.reason()},
                          request.validate_only(), call);
          return absl::OkStatus();
        });
  }

  // Answers with the budget after the command; with validate_only, with its present state, or with
  // the budget that would be created.
  template <class Body>
  void SubmitAndAnswer(Body body, bool validate_only, const Call& call) {
    SubmitNow<core::BudgetOutcome>(
        context_.ledger, std::move(body), {validate_only}, call,
        [&ledger = context_.ledger, call, validate_only](const core::BudgetOutcome& outcome) {
          if (validate_only && outcome.created) {
            v1::Budget preview;
            ToProto(*outcome.spec, &preview);
            call->Succeed(preview);
            return;
          }
          ReadState(ledger, call, [call, id = outcome.budget_id](core::LedgerReader& reader) {
            return AnswerBudget(reader, id, call);
          });
        });
  }

  const HandlerContext context_;
  // Shared with running computations, which may outlive the server.
  const std::shared_ptr<BudgetReadingCache> reading_cache_ =
      std::make_shared<BudgetReadingCache>(kMaxCachedBudgetReadings);
};

}  // namespace

void AddBudgetService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.BudgetService", std::make_shared<BudgetHandlers>(context),
              {{"CreateBudget", &BudgetHandlers::CreateBudget},
               {"GetBudget", &BudgetHandlers::GetBudget},
               {"ListBudgets", &BudgetHandlers::ListBudgets},
               {"ListBudgetReadings", &BudgetHandlers::ListBudgetReadings},
               {"UpdateBudget", &BudgetHandlers::UpdateBudget},
               {"FreezeBudget", &BudgetHandlers::FreezeBudget},
               {"ThawBudget", &BudgetHandlers::ThawBudget},
               {"CloseBudget", &BudgetHandlers::CloseBudget},
               {"SupersedeBudget", &BudgetHandlers::SupersedeBudget},
               {"SetApprovalPolicy", &BudgetHandlers::SetApprovalPolicy},
               {"GetBudgetTree", &BudgetHandlers::GetBudgetTree},
               {"GetBudgetGuarantees", &BudgetHandlers::GetBudgetGuarantees},
               {"GetBudgetActivity", &BudgetHandlers::GetBudgetActivity}});
  methods.AddStream(
      "epsledger.v1.BudgetService.WatchBudget", [context](wire::StreamRequest arrived) {
        v1::WatchBudgetRequest request;
        absl::Status status = ReadRequest(arrived.message, &request);
        absl::StatusOr<std::string> id = ParseBudgetName("name", request.name());
        if (status.ok()) status = id.status();
        return Watch::Start(
            context, std::move(arrived), "epsledger.v1.BudgetService.WatchBudget",
            status.ok() ? absl::StatusOr<Watched>(Watched{.budget_id = *std::move(id)}) : status,
            request.after_sequence());
      });
}

}  // namespace epsledger::transport
