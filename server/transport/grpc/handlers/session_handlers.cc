#include "server/transport/grpc/handlers/session_handlers.h"

#include <string>
#include <utility>
#include <vector>

#include "accounting/event/domain.h"
#include "epsledger/v1/session_service.grpc.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "proto/convert/accountant_readings.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/transport/grpc/calls/not_in_this_version.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/converters/session_convert.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

using Bytes = grpc::ByteBuffer;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

template <class Base>
using Raw1 = v1::SessionService::WithRawCallbackMethod_CreateSession<
    v1::SessionService::WithRawCallbackMethod_GetSession<
        v1::SessionService::WithRawCallbackMethod_ListSessions<
            v1::SessionService::WithRawCallbackMethod_OpenAttempt<Base>>>>;
template <class Base>
using Raw2 = v1::SessionService::WithRawCallbackMethod_GetSessionGuarantees<
    v1::SessionService::WithRawCallbackMethod_CloseSession<
        v1::SessionService::WithRawCallbackMethod_WatchSession<Base>>>;

const core::SessionState* FindSession(core::LedgerReader& reader, const core::SessionName& name) {
  const core::Ledger* ledger = reader.LedgerOf(name.budget_id);
  return ledger == nullptr ? nullptr : ledger->FindSession(name);
}

absl::Status AnswerSession(core::LedgerReader& reader, const core::SessionName& name,
                           const Call& call) {
  const core::SessionState* session = FindSession(reader, name);
  if (session == nullptr) return NoSuchSession(name);
  v1::Session message;
  ToProto(*session, &message);
  call->Succeed(message);
  return absl::OkStatus();
}

absl::Status AnswerList(core::LedgerReader& reader, const std::string& budget_id,
                        const std::string& list, const std::string& after, int64_t size,
                        const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(budget_id);
  if (ledger == nullptr) return NoSuchBudget(budget_id);
  const std::vector<const core::SessionState*> sessions =
      ledger->SessionsOf(budget_id, after, size + 1);
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

class SessionHandlers final : public Raw1<Raw2<v1::SessionService::Service>> {
 public:
  explicit SessionHandlers(HandlerContext context) : context_(std::move(context)) {}

  Unary* CreateSession(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::CreateSessionRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::CreateSessionRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionSpec> spec = FromProto(request);
          if (!spec.ok()) return spec.status();
          v1::Session preview;
          if (request.validate_only()) ToProto(*spec, &preview);
          SubmitNow<core::SessionOutcome>(
              context_.ledger, core::CreateSession{*std::move(spec)}, request.validate_only(), call,
              [&ledger = context_.ledger, call, validate_only = request.validate_only(),
               preview = std::move(preview)](const core::SessionOutcome& outcome) {
                if (outcome.refusal) {
                  v1::Refusal refusal;
                  ToProto(*outcome.refusal, &refusal);
                  call->Fail(RefusedPlan(FormatSessionName(outcome.session), refusal));
                } else if (validate_only && outcome.created) {
                  call->Succeed(preview);
                } else {
                  ReadState(ledger, call,
                            [call, name = outcome.session](core::LedgerReader& reader) {
                              return AnswerSession(reader, name, call);
                            });
                }
              });
          return absl::OkStatus();
        });
  }

  Unary* GetSession(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::GetSessionRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::GetSessionRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionName> name = ParseSessionName("name", request.name());
          if (!name.ok()) return name.status();
          ReadState(context_.ledger, call,
                    [call, name = *std::move(name)](core::LedgerReader& reader) {
                      return AnswerSession(reader, name, call);
                    });
          return absl::OkStatus();
        });
  }

  Unary* ListSessions(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::ListSessionsRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::ListSessionsRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> budget_id = ParseBudgetName("parent", request.parent());
          if (!budget_id.ok()) return budget_id.status();
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          const std::string list = request.parent() + "/sessions";
          absl::StatusOr<std::string> after = ReadPageToken(list, request.page_token());
          if (!after.ok()) return after.status();
          ReadState(context_.ledger, call,
                    [call, list, budget_id = *std::move(budget_id), size = *size,
                     after = *std::move(after)](core::LedgerReader& reader) {
                      return AnswerList(reader, budget_id, list, after, size, call);
                    });
          return absl::OkStatus();
        });
  }

  Unary* OpenAttempt(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::OpenAttemptRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::OpenAttemptRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionName> name = ParseSessionName("session", request.session());
          if (!name.ok()) return name.status();
          const std::string& description = request.client_description();
          absl::Status status =
              CheckText("clientDescription", description, 0, core::kMaxDisplayNameBytes);
          if (!status.ok()) return status;
          SubmitNow<core::AttemptOutcome>(
              context_.ledger, core::OpenAttempt{*name, description}, false, call,
              [call, name = *name, description](const core::AttemptOutcome& outcome) {
                v1::Attempt message;
                message.set_name(FormatAttemptName({name, outcome.attempt}));
                message.set_number(outcome.attempt);
                message.set_client_description(description);
                call->Succeed(message);
              });
          return absl::OkStatus();
        });
  }

  Unary* GetSessionGuarantees(Context* context, const Bytes* bytes, Bytes* response) override {
    return Handle<v1::GetSessionGuaranteesRequest>(
        context_.open_calls, context, bytes, response,
        [this](const v1::GetSessionGuaranteesRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionName> name = ParseSessionName("name", request.name());
          if (!name.ok()) return name.status();
          absl::Status status =
              accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability);
          if (!status.ok()) return status;
          ReadState(context_.ledger, call,
                    [call, name = *std::move(name), delta = request.delta(),
                     computations = context_.computations](core::LedgerReader& reader) {
                      return ComputeGuarantees(reader, name, delta, *computations, call);
                    });
          return absl::OkStatus();
        });
  }

  Unary* CloseSession(Context* context, const Bytes*, Bytes*) override {
    return UnaryNotInThisVersion(context, "CloseSession will end a session for good");
  }
  grpc::ServerWriteReactor<Bytes>* WatchSession(Context*, const Bytes*) override {
    return StreamNotInThisVersion("WatchSession will stream every change of a session, once each");
  }

 private:
  // Copies the history on the ledger's thread; the mathematics is done on another.
  static absl::Status ComputeGuarantees(core::LedgerReader& reader, const core::SessionName& name,
                                        double delta, ComputationPool& computations,
                                        const Call& call) {
    const core::SessionState* session = FindSession(reader, name);
    if (session == nullptr) return NoSuchSession(name);
    const int64_t sequence = reader.LedgerOf(name.budget_id)->head().sequence;
    return computations.Submit(
        [call, history = HistoryOf(*session), relation = session->spec.relation, delta, sequence] {
          if (call->Abandoned()) return;
          v1::GetSessionGuaranteesResponse response;
          for (v1::AccountantReading& reading :
               convert::ReadEveryAccountant(history, relation, delta)) {
            *response.add_readings() = std::move(reading);
          }
          response.set_sequence(sequence);
          call->Succeed(response);
        });
  }

  const HandlerContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeSessionService(HandlerContext context) {
  return std::make_unique<SessionHandlers>(std::move(context));
}

}  // namespace epsledger::transport
