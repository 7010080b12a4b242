#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/session_service.pb.h"
#include "proto/bridge/accountant_readings.h"
#include "proto/bridge/curves.h"
#include "proto/bridge/mechanism_convert.h"
#include "server/core/claim.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/core/plan.h"
#include "server/transport/grpc/converters/audit_record_convert.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/converters/session_convert.h"
#include "server/transport/grpc/handlers/list_session_readings.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/handlers/session_series.h"
#include "server/transport/grpc/handlers/watch.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "spdlog/spdlog.h"

namespace epsledger::transport {
namespace {

const core::SessionState* FindSession(core::LedgerReader& reader, const core::SessionName& name) {
  const core::Ledger* ledger = reader.LedgerOf(name.budget_id);
  return ledger == nullptr ? nullptr : ledger->FindSession(name);
}

absl::Status AnswerSession(core::LedgerReader& reader, const core::SessionName& name,
                           ComputationPool& computations, const Call& call) {
  const core::SessionState* session = FindSession(reader, name);
  if (session == nullptr) return NoSuchSession(name);
  v1::Session message;
  ToProto(*session, &message);
  if (!message.events_omitted() || session->spec.plan.empty()) {
    call->Succeed(message);
    return absl::OkStatus();
  }
  return computations.Submit(call->caller().tenant, [call, message = std::move(message),
                                                     plan = session->spec.plan]() mutable {
    AddPlan(plan, &message);
    call->Succeed(message);
  });
}

void ReadSession(const HandlerContext& context, core::SessionName name, const Call& call) {
  ReadState(
      context.ledger, call,
      [call, name = std::move(name), computations = context.computations](
          core::LedgerReader& reader) { return AnswerSession(reader, name, *computations, call); });
}

absl::Status AnswerList(core::LedgerReader& reader, const std::string& budget_id,
                        const std::string& group, const std::string& list, const std::string& after,
                        int64_t size, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(budget_id);
  if (ledger == nullptr) return NoSuchBudget(budget_id);
  std::vector<const core::SessionState*> sessions;
  for (const core::SessionState* session : ledger->SessionsOf(
           budget_id, after, group.empty() ? size + 1 : std::numeric_limits<int64_t>::max())) {
    if (group.empty() || session->spec.group == group) sessions.push_back(session);
    if (static_cast<int64_t>(sessions.size()) > size) break;
  }
  v1::ListSessionsResponse response;
  size_t bytes = 0;
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (static_cast<int64_t>(i) == size || bytes > kMaxPageBytes) {
      response.set_next_page_token(MakePageToken(list, sessions[i - 1]->spec.id));
      break;
    }
    ToProto(*sessions[i], response.add_sessions());
    bytes += response.sessions().rbegin()->ByteSizeLong();
  }
  call->Succeed(response);
  return absl::OkStatus();
}

void Submit(const HandlerContext& context, core::CreateSession command, bool validate_only,
            const Call& call) {
  v1::Session preview;
  if (validate_only) ToProto(command.spec, &preview);
  // Empty for a proven session.
  std::string unproven;
  if (core::IsUnproven(command.spec.claim)) {
    unproven = core::LabelAndFlag(command.spec.claim->status);
  }
  SubmitNow<core::SessionOutcome>(
      context.ledger, std::move(command), {validate_only}, call,
      [context, call, validate_only, preview = std::move(preview),
       unproven = std::move(unproven)](const core::SessionOutcome& outcome) {
        if (outcome.created && !validate_only && !unproven.empty()) {
          spdlog::warn("{}: {}", FormatSessionName(outcome.session), unproven);
        }
        if (outcome.refusal) {
          v1::Refusal refusal;
          ToProto(*outcome.refusal, &refusal);
          call->Fail(RefusedPlan(FormatSessionName(outcome.session), refusal));
        } else if (validate_only && outcome.created) {
          call->Succeed(preview);
        } else {
          ReadSession(context, outcome.session, call);
        }
      });
}

// Composes a plan on the pool, so that no charge waits for it. If the ledger needs more because a
// budget changed meanwhile, it composes that part when it decides.
void ComposeAndSubmit(const HandlerContext& context, core::CreateSession command,
                      bool validate_only, const Call& call) {
  ReadState(context.ledger, call,
            [context, call, validate_only,
             command = std::move(command)](core::LedgerReader& reader) mutable -> absl::Status {
              const core::Ledger* budgets = reader.LedgerOf(command.spec.budget_id);
              std::vector<double> deltas;
              if (budgets != nullptr) deltas = budgets->PlanDeltas(command.spec);
              if (deltas.empty()) {
                Submit(context, std::move(command), validate_only, call);
                return absl::OkStatus();
              }
              return context.computations->Submit(
                  call->caller().tenant,
                  [context, call, validate_only, command = std::move(command),
                   deltas = std::move(deltas)]() mutable {
                    command.composition = std::make_shared<core::PlanComposition>(command.spec);
                    for (const double delta : deltas) {
                      if (call->Abandoned()) return;
                      command.composition->At(delta).IgnoreError();  // deciding reports errors
                    }
                    Submit(context, std::move(command), validate_only, call);
                  });
            });
}

class SessionHandlers {
 public:
  explicit SessionHandlers(HandlerContext context) : context_(std::move(context)) {}

  void CreateSession(wire::UnaryRequest arrived) {
    Handle<v1::CreateSessionRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::CreateSessionRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::CreateSession command, ReadCreateSession(request));
          if (command.spec.mode == core::SessionMode::kDeclared) {
            ComposeAndSubmit(context_, std::move(command), request.validate_only(), call);
          } else {
            Submit(context_, std::move(command), request.validate_only(), call);
          }
          return absl::OkStatus();
        });
  }

  void GetSession(wire::UnaryRequest arrived) {
    Handle<v1::GetSessionRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetSessionRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SessionName name, ParseSessionName("name", request.name()));
          ReadSession(context_, std::move(name), call);
          return absl::OkStatus();
        });
  }

  void ListSessions(wire::UnaryRequest arrived) {
    Handle<v1::ListSessionsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListSessionsRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> budget_id = ParseBudgetName("parent", request.parent());
          if (!budget_id.ok()) return budget_id.status();
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          if (!request.group().empty()) {
            RETURN_IF_ERROR(CheckResourceId("group", request.group()));
          }
          const std::string list = request.parent() + "/sessions?" + request.group();
          absl::StatusOr<std::string> after = ReadPageToken(list, request.page_token());
          if (!after.ok()) return after.status();
          ReadState(context_.ledger, call,
                    [call, list, budget_id = *std::move(budget_id), group = request.group(),
                     size = *size, after = *std::move(after)](core::LedgerReader& reader) {
                      return AnswerList(reader, budget_id, group, list, after, size, call);
                    });
          return absl::OkStatus();
        });
  }

  void ListSessionReadings(wire::UnaryRequest arrived) {
    Handle<v1::ListSessionReadingsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListSessionReadingsRequest& request, const Call& call) {
          return transport::ListSessionReadings(context_, reading_cache_, request, call);
        });
  }

  void OpenAttempt(wire::UnaryRequest arrived) {
    Handle<v1::OpenAttemptRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::OpenAttemptRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionName> name = ParseSessionName("session", request.session());
          if (!name.ok()) return name.status();
          const std::string& description = request.client_description();
          RETURN_IF_ERROR(
              CheckText("clientDescription", description, 0, core::kMaxDisplayNameBytes));
          ASSIGN_OR_RETURN(const core::Provenance provenance,
                           FromProto(request.provenance(), "provenance"));
          ASSIGN_OR_RETURN(std::optional<core::SeenHead> seen,
                           ReadSeenHead(request.last_seen_head(), request.has_last_seen_head(),
                                        *context_.head_key, call->caller().tenant));
          v1::Attempt message;
          message.set_client_description(description);
          ToProto(provenance, message.mutable_provenance());
          SubmitNow<core::AttemptOutcome>(
              context_.ledger, core::OpenAttempt{*name, description, provenance},
              {.last_seen = std::move(seen)}, call,
              [call, name = *name, message,
               key = context_.head_key](const core::AttemptOutcome& outcome) mutable {
                message.set_name(FormatAttemptName({name, outcome.attempt}));
                message.set_number(outcome.attempt);
                message.set_sequence(outcome.head.sequence);
                message.set_hash(outcome.head.hash.data(), outcome.head.hash.size());
                AddHeadTag(*key, call->caller().tenant, name.budget_id, &message);
                call->Succeed(message);
              });
          return absl::OkStatus();
        });
  }

  void GetSessionGuarantees(wire::UnaryRequest arrived) {
    Handle<v1::GetSessionGuaranteesRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetSessionGuaranteesRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionName> name = ParseSessionName("name", request.name());
          if (!name.ok()) return name.status();
          RETURN_IF_ERROR(
              accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability));
          ReadState(context_.ledger, call,
                    [call, name = *std::move(name), delta = request.delta(),
                     computations = context_.computations](core::LedgerReader& reader) {
                      return ComputeGuarantees(reader, name, delta, *computations, call);
                    });
          return absl::OkStatus();
        });
  }

  void GetSessionHistory(wire::UnaryRequest arrived) {
    Handle<v1::GetSessionHistoryRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetSessionHistoryRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SessionName name, ParseSessionName("name", request.name()));
          RETURN_IF_ERROR(accounting::CheckRange("atSequence", request.at_sequence(), 0,
                                                 std::numeric_limits<int64_t>::max()));
          RETURN_IF_ERROR(
              accounting::CheckRange("pageSize", request.page_size(), 0, core::kMaxPageSize));
          const std::string list = absl::StrCat(request.name(), "/history?", request.at_sequence());
          ASSIGN_OR_RETURN(const std::string token, ReadPageToken(list, request.page_token()));
          PastHistory past{.name = std::move(name),
                           .at_sequence = request.at_sequence(),
                           .list = list,
                           .page_size = request.page_size()};
          if (!token.empty() && !past.TakeToken(token)) {
            return accounting::OutOfDomain("pageToken", Shown(request.page_token()),
                                           "the nextPageToken of the answer before");
          }
          ReadPastHistory(context_, call, std::move(past));
          return absl::OkStatus();
        });
  }

  void GetSessionPrivacyProfile(wire::UnaryRequest arrived) {
    Handle<v1::GetSessionPrivacyProfileRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetSessionPrivacyProfileRequest& request,
               const Call& call) -> absl::Status {
          v1::GetPrivacyProfileRequest curve;
          curve.set_accountant(request.accountant());
          *curve.mutable_epsilons() = request.epsilons();
          if (request.has_epsilon_range()) {
            *curve.mutable_epsilon_range() = request.epsilon_range();
          }
          return AnswerCurve(request.name(), curve, call, bridge::PrivacyProfile);
        });
  }

  void GetSessionTradeOffCurve(wire::UnaryRequest arrived) {
    Handle<v1::GetSessionTradeOffCurveRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetSessionTradeOffCurveRequest& request,
               const Call& call) -> absl::Status {
          v1::GetTradeOffCurveRequest curve;
          curve.set_accountant(request.accountant());
          *curve.mutable_type_one_errors() = request.type_one_errors();
          if (request.has_type_one_error_range()) {
            *curve.mutable_type_one_error_range() = request.type_one_error_range();
          }
          return AnswerCurve(request.name(), curve, call, bridge::TradeOffCurve);
        });
  }

  void GetSessionSeries(wire::UnaryRequest arrived) {
    Handle<v1::GetSessionSeriesRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetSessionSeriesRequest& request, const Call& call) {
          return transport::GetSessionSeries(context_, series_cache_, request, call);
        });
  }

  void CloseSession(wire::UnaryRequest arrived) {
    Handle<v1::CloseSessionRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::CloseSessionRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SessionName name, ParseSessionName("name", request.name()));
          RETURN_IF_ERROR(CheckText("reason", request.reason(), 1, core::kMaxReasonBytes));
          SubmitNow<core::SessionOutcome>(
              context_.ledger, core::CloseSession{std::move(name), request.reason()},
              {request.validate_only()}, call,
              [context = context_, call](const core::SessionOutcome& outcome) {
                ReadSession(context, outcome.session, call);
              });
          return absl::OkStatus();
        });
  }

  void RecordAudit(wire::UnaryRequest arrived) {
    Handle<v1::RecordAuditRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::RecordAuditRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::RecordAudit command, FromProto(request));
          SubmitNow<core::SessionOutcome>(
              context_.ledger, std::move(command), {request.validate_only()}, call,
              [context = context_, call](const core::SessionOutcome& outcome) {
                ReadSession(context, outcome.session, call);
              });
          return absl::OkStatus();
        });
  }

 private:
  // A page of a history as of one entry. Charges are read in pages so that no new charge waits for
  // long.
  struct PastHistory {
    core::SessionName name;
    int64_t at_sequence = 0;  // 0: now
    std::string list;         // of its page tokens
    int64_t page_size = 0;    // 0: the rest of it
    int64_t first = 0;        // event of the page
    int64_t after_sequence = 0;
    std::map<int64_t, int64_t> counts = {};  // of accepted charges, by event index

    // Later pages are as of the same entry as the first. Returns false for a token that TokenOf did
    // not make.
    bool TakeToken(const std::string& token) {
      const size_t colon = token.find(':');
      return colon != token.npos && absl::SimpleAtoi(token.substr(0, colon), &at_sequence) &&
             absl::SimpleAtoi(token.substr(colon + 1), &first) && at_sequence > 0 && first > 0;
    }
    std::string TokenOf(int64_t sequence, int64_t next) const {
      return MakePageToken(list, absl::StrCat(sequence, ":", next));
    }
  };

  static void ReadPastHistory(const HandlerContext& context, const Call& call, PastHistory past) {
    ReadState(context.ledger, call,
              [context, call, past = std::move(past)](core::LedgerReader& reader) mutable {
                return ReadPage(context, reader, call, std::move(past));
              });
  }

  static absl::Status ReadPage(const HandlerContext& context, core::LedgerReader& reader,
                               const Call& call, PastHistory past) {
    const core::SessionState* session = FindSession(reader, past.name);
    if (session == nullptr) return NoSuchSession(past.name);
    const int64_t newest = reader.LedgerOf(past.name.budget_id)->head().sequence;
    if (past.at_sequence > newest) {
      return accounting::OutOfDomain("atSequence", absl::StrCat(past.at_sequence),
                                     absl::StrCat("at most ", newest, ", the newest entry"));
    }
    if (past.at_sequence == 0) past.at_sequence = newest;
    if (past.at_sequence == newest) {
      return WriteHistory(context, HistoryOf(*session), call, std::move(past));
    }
    ASSIGN_OR_RETURN(const core::LedgerReader::ChargePage page,
                     reader.ListCharges(past.name, past.after_sequence, core::kMaxPageSize));
    for (const core::ChargeRecord& record : page.records) {
      past.after_sequence = record.sequence;
      if (record.sequence > past.at_sequence) break;
      if (record.row.decision == core::ChargeDecision::kAccepted) {
        past.counts[record.row.event_index] += record.row.count;
      }
    }
    if (page.is_cut && past.after_sequence < past.at_sequence && !call->Abandoned()) {
      ReadPastHistory(context, call, std::move(past));
      return absl::OkStatus();
    }
    std::vector<accounting::CountedEvent> history;
    history.reserve(past.counts.size());
    for (const auto& [event_index, count] : past.counts) {
      history.push_back({session->events[event_index].event, count});
    }
    return WriteHistory(context, std::move(history), call, std::move(past));
  }

  // Answers with the requested page of `history`, on a separate thread.
  static absl::Status WriteHistory(const HandlerContext& context,
                                   std::vector<accounting::CountedEvent> history, const Call& call,
                                   PastHistory past) {
    return context.computations->Submit(
        call->caller().tenant, [call, history = std::move(history), past = std::move(past)] {
          v1::GetSessionHistoryResponse response;
          response.set_sequence(past.at_sequence);
          size_t bytes = 0;
          for (size_t i = past.first; i < history.size(); ++i) {
            if (past.page_size == 0 && bytes > kMaxWholeHistoryBytes) {
              return call->Fail(accounting::OutOfDomain(
                  "pageSize", "none", "one: the history takes more than 3 MB at once"));
            }
            if (past.page_size > 0 &&
                (response.history_size() == past.page_size || bytes > kMaxPageBytes)) {
              response.set_next_page_token(past.TokenOf(past.at_sequence, static_cast<int64_t>(i)));
              break;
            }
            bridge::ToProto(history[i], response.add_history());
            bytes += response.history().rbegin()->ByteSizeLong();
          }
          call->Succeed(response);
        });
  }

  // Asks `draw` for a curve of the history charged so far, with the points of `request`.
  template <class Request, class Draw>
  absl::Status AnswerCurve(const std::string& session_name, const Request& request,
                           const Call& call, Draw draw) {
    absl::StatusOr<core::SessionName> name = ParseSessionName("name", session_name);
    if (!name.ok()) return name.status();
    absl::StatusOr<bridge::CurveQuestion> curve = bridge::ToQuestion(request);
    if (!curve.ok()) return curve.status();
    ReadState(context_.ledger, call,
              [call, name = *std::move(name), curve = *std::move(curve), draw,
               computations = context_.computations](core::LedgerReader& reader) mutable {
                const core::SessionState* session = FindSession(reader, name);
                if (session == nullptr) return NoSuchSession(name);
                curve.question.events = HistoryOf(*session);
                curve.question.relation = session->spec.relation;
                return computations->Submit(
                    call->caller().tenant, [call, curve = std::move(curve), draw] {
                      const auto response = draw(curve, [&call] { return call->Abandoned(); });
                      if (response.ok()) {
                        call->Succeed(*response);
                      } else {
                        call->Fail(response.status());
                      }
                    });
              });
    return absl::OkStatus();
  }

  // Copies the history on the ledger's thread; the mathematics is done on another.
  static absl::Status ComputeGuarantees(core::LedgerReader& reader, const core::SessionName& name,
                                        double delta, ComputationPool& computations,
                                        const Call& call) {
    const core::SessionState* session = FindSession(reader, name);
    if (session == nullptr) return NoSuchSession(name);
    const core::Ledger& ledger = *reader.LedgerOf(name.budget_id);
    v1::GetSessionGuaranteesResponse response;
    response.set_sequence(ledger.head().sequence);
    if (session->last_charge.sequence > 0) {
      const absl::StatusOr<core::Preview> preview =
          ledger.PreviewCharge(name, *session->events[session->last_charge.event_index].event, 1);
      if (preview.ok()) response.set_steps_that_fit(preview->steps_that_fit);
    }
    return computations.Submit(call->caller().tenant, [call, history = HistoryOf(*session),
                                                       relation = session->spec.relation, delta,
                                                       response]() mutable {
      if (call->Abandoned()) return;
      for (v1::AccountantReading& reading : bridge::ReadEveryAccountant(history, relation, delta)) {
        *response.add_readings() = std::move(reading);
      }
      call->Succeed(response);
    });
  }

  const HandlerContext context_;
  // Shared with running computations, which may outlive the server.
  const std::shared_ptr<SeriesCache> series_cache_ =
      std::make_shared<SeriesCache>(kMaxCachedSeriesPoints);
  const std::shared_ptr<ReadingCache> reading_cache_ =
      std::make_shared<ReadingCache>(kMaxCachedReadings);
};

}  // namespace

void AddSessionService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.SessionService", std::make_shared<SessionHandlers>(context),
              {{"CreateSession", &SessionHandlers::CreateSession},
               {"GetSession", &SessionHandlers::GetSession},
               {"ListSessions", &SessionHandlers::ListSessions},
               {"ListSessionReadings", &SessionHandlers::ListSessionReadings},
               {"OpenAttempt", &SessionHandlers::OpenAttempt},
               {"GetSessionGuarantees", &SessionHandlers::GetSessionGuarantees},
               {"GetSessionHistory", &SessionHandlers::GetSessionHistory},
               {"GetSessionPrivacyProfile", &SessionHandlers::GetSessionPrivacyProfile},
               {"GetSessionTradeOffCurve", &SessionHandlers::GetSessionTradeOffCurve},
               {"GetSessionSeries", &SessionHandlers::GetSessionSeries},
               {"CloseSession", &SessionHandlers::CloseSession},
               {"RecordAudit", &SessionHandlers::RecordAudit}});
  methods.AddStream("epsledger.v1.SessionService.WatchSession", [context](
                                                                    wire::StreamRequest arrived) {
    v1::WatchSessionRequest request;
    absl::Status status = ReadRequest(arrived.message, &request);
    const absl::StatusOr<core::SessionName> name = ParseSessionName("name", request.name());
    if (status.ok()) status = name.status();
    return Watch::Start(
        context, std::move(arrived), "epsledger.v1.SessionService.WatchSession",
        status.ok() ? absl::StatusOr<Watched>(Watched{name->budget_id, name->session_id}) : status,
        request.after_sequence());
  });
}

}  // namespace epsledger::transport
