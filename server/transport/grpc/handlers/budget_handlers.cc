#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/budget_service.pb.h"
#include "proto/bridge/accountant_readings.h"
#include "proto/bridge/curves.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/proposal_convert.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/converters/session_convert.h"
#include "server/transport/grpc/handlers/budget_pages.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/handlers/watch.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr int64_t kActivityWindowSeconds = 24 * 60 * 60;
constexpr int64_t kMaxActivityWindowSeconds = 366 * kActivityWindowSeconds;

absl::Status AnswerActivity(core::LedgerReader& reader, const std::string& id,
                            int64_t window_seconds, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(id);
  if (ledger == nullptr) return NoSuchBudget(id);
  const core::BudgetState& budget = *ledger->FindBudget(id);
  v1::BudgetActivity message;
  if (budget.last_accepted_time_micros > 0) {
    ToProto(budget.last_accepted_time_micros, message.mutable_last_charge_time());
  }
  const int64_t since = absl::ToUnixMicros(absl::Now()) - window_seconds * 1'000'000;
  message.set_refused_charge_count(
      std::count_if(budget.recent_refusals.begin(), budget.recent_refusals.end(),
                    [&](const core::RefusalMark& mark) { return mark.time_micros >= since; }));
  message.mutable_window()->set_seconds(window_seconds);
  message.set_sequence(ledger->head().sequence);
  call->Succeed(message);
  return absl::OkStatus();
}

absl::Status AnswerBudget(core::LedgerReader& reader, const std::string& id, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(id);
  const core::BudgetState* budget = ledger == nullptr ? nullptr : ledger->FindBudget(id);
  if (budget == nullptr) return NoSuchBudget(id);
  v1::Budget message;
  ToProto(*ledger, *budget, &message);
  call->Succeed(message);
  return absl::OkStatus();
}

// Adds the histories of all sessions at or below the budget and the budgets that it supersedes;
// only those of `group` if it is not empty.
void AddHistories(const core::Ledger& ledger, const core::BudgetState& budget,
                  const std::string& group, std::vector<accounting::CountedEvent>* history,
                  int64_t* session_count) {
  for (const core::SessionState* session :
       ledger.SessionsOf(budget.spec.id, "", std::numeric_limits<int64_t>::max())) {
    if (!group.empty() && session->spec.group != group) continue;
    ++*session_count;
    std::vector<accounting::CountedEvent> own = HistoryOf(*session);
    history->insert(history->end(), own.begin(), own.end());
  }
  for (const std::string& child_id : budget.child_ids) {
    const core::BudgetState& child = *ledger.FindBudget(child_id);
    // The successor of a superseded child includes it.
    if (child.superseded_by.empty()) {
      AddHistories(ledger, child, group, history, session_count);
    }
  }
  if (!budget.supersedes.empty()) {
    AddHistories(ledger, *ledger.FindBudget(budget.supersedes), group, history, session_count);
  }
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
        [this](const v1::GetBudgetGuaranteesRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("name", request.name());
          if (!id.ok()) return id.status();
          absl::Status status =
              accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability);
          if (status.ok() && !request.group().empty()) {
            status = CheckResourceId("group", request.group());
          }
          std::optional<double> type_one_error;
          if (status.ok() && request.has_type_one_error()) {
            type_one_error = request.type_one_error();
            status = accounting::CheckInterval("typeOneError", *type_one_error,
                                               accounting::kProbability);
          }
          if (!status.ok()) return status;
          ReadState(
              context_.ledger, call,
              [call, id = *std::move(id), delta = request.delta(), group = request.group(),
               type_one_error, computations = context_.computations](core::LedgerReader& reader) {
                return ComputeGuarantees(reader, id, delta, group, type_one_error, *computations,
                                         call);
              });
          return absl::OkStatus();
        });
  }

  void GetBudgetActivity(wire::UnaryRequest arrived) {
    Handle<v1::GetBudgetActivityRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetBudgetActivityRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("name", request.name());
          if (!id.ok()) return id.status();
          int64_t window_seconds = kActivityWindowSeconds;
          if (request.has_window()) {
            window_seconds = request.window().seconds();
            absl::Status status = accounting::CheckRange("window.seconds", window_seconds, 1,
                                                         kMaxActivityWindowSeconds);
            if (status.ok()) {
              status = accounting::CheckRange("window.nanos", request.window().nanos(), 0, 0);
            }
            if (!status.ok()) return status;
          }
          ReadState(context_.ledger, call,
                    [call, id = *std::move(id), window_seconds](core::LedgerReader& reader) {
                      return AnswerActivity(reader, id, window_seconds, call);
                    });
          return absl::OkStatus();
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

  // Copies the histories on the ledger's thread; the mathematics is done on another.
  static absl::Status ComputeGuarantees(core::LedgerReader& reader, const std::string& id,
                                        double delta, const std::string& group,
                                        std::optional<double> type_one_error,
                                        ComputationPool& computations, const Call& call) {
    const core::Ledger* ledger = reader.LedgerOf(id);
    if (ledger == nullptr) return NoSuchBudget(id);
    const core::BudgetState& budget = *ledger->FindBudget(id);
    std::vector<accounting::CountedEvent> history;
    v1::GetBudgetGuaranteesResponse message;
    int64_t session_count = 0;
    AddHistories(*ledger, budget, group, &history, &session_count);
    message.set_session_count(session_count);
    message.set_sequence(ledger->head().sequence);
    return computations.Submit(call->caller().tenant, [call, history = std::move(history),
                                                       relation = budget.spec.relation, delta,
                                                       type_one_error, message]() mutable {
      if (call->Abandoned()) return;
      if (type_one_error.has_value() && history.empty()) {
        message.set_true_positive_rate_upper(*type_one_error);  // a coin toss
      } else if (type_one_error.has_value()) {
        bridge::CurveQuestion curve;
        curve.question.events = history;
        curve.question.relation = relation;
        curve.at = {*type_one_error};
        const auto points = bridge::TradeOffCurve(curve, [&call] { return call->Abandoned(); });
        // An event without a known trade-off function guarantees nothing.
        message.set_true_positive_rate_upper(
            points.ok() && points->points(0).has_true_positive_rate_upper()
                ? points->points(0).true_positive_rate_upper()
                : 1);
      }
      for (v1::AccountantReading& reading : bridge::ReadEveryAccountant(history, relation, delta)) {
        *message.add_readings() = std::move(reading);
      }
      call->Succeed(message);
    });
  }

  const HandlerContext context_;
};

}  // namespace

void AddBudgetService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.BudgetService", std::make_shared<BudgetHandlers>(context),
              {{"CreateBudget", &BudgetHandlers::CreateBudget},
               {"GetBudget", &BudgetHandlers::GetBudget},
               {"ListBudgets", &BudgetHandlers::ListBudgets},
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
