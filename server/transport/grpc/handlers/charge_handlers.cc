#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "epsledger/v1/charge_service.pb.h"
#include "proto/bridge/mechanism_convert.h"
#include "server/core/ledger.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/converters/session_convert.h"
#include "server/transport/grpc/handlers/charge_stream.h"
#include "server/transport/grpc/handlers/list_refusals.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

// NOT_FOUND, or OK.
absl::Status CheckSessionExists(core::LedgerReader& reader, const core::SessionName& name) {
  const core::Ledger* ledger = reader.LedgerOf(name.budget_id);
  if (ledger == nullptr || ledger->FindSession(name) == nullptr) return NoSuchSession(name);
  return absl::OkStatus();
}

absl::Status AnswerCharge(core::LedgerReader& reader, const ChargeName& name, const HeadKey& key,
                          const Call& call) {
  RETURN_IF_ERROR(CheckSessionExists(reader, name.attempt.session));
  ASSIGN_OR_RETURN(std::optional<core::ChargeRecord> record,
                   reader.FindCharge(name.attempt.session, name.attempt.attempt, name.charge_id));
  if (!record.has_value()) {
    return absl::NotFoundError(FormatChargeName(name.attempt, name.charge_id) +
                               ": there is no such charge: it was never decided");
  }
  v1::Charge message;
  ToProto(name.attempt.session, *record, &message);
  AddHeadTag(key, call->caller().tenant, name.attempt.session.budget_id, &message);
  call->Succeed(message);
  return absl::OkStatus();
}

v1::ListChargesResponse PageOf(const core::SessionName& name, const std::string& list, int64_t size,
                               const core::LedgerReader::ChargePage& page) {
  v1::ListChargesResponse response;
  const std::vector<core::ChargeRecord>& records = page.records;
  size_t bytes = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    if (static_cast<int64_t>(i) == size || bytes > kMaxPageBytes) {
      response.set_next_page_token(MakePageToken(list, absl::StrCat(records[i - 1].sequence)));
      break;
    }
    ToProto(name, records[i], response.add_charges());
    bytes += response.charges().rbegin()->ByteSizeLong();
  }
  if (page.is_cut && response.next_page_token().empty()) {
    response.set_next_page_token(MakePageToken(list, absl::StrCat(records.back().sequence)));
  }
  return response;
}

absl::Status AnswerList(core::LedgerReader& reader, const core::SessionName& name,
                        const std::string& list, int64_t after, int64_t size,
                        ComputationPool& computations, const Call& call) {
  RETURN_IF_ERROR(CheckSessionExists(reader, name));
  absl::StatusOr<core::LedgerReader::ChargePage> page = reader.ListCharges(name, after, size + 1);
  if (!page.ok()) return page.status();
  const core::SessionState& session = *reader.LedgerOf(name.budget_id)->FindSession(name);
  if (session.event_bytes <= kMaxShownEventBytes / size) {
    call->Succeed(PageOf(name, list, size, *page));
    return absl::OkStatus();
  }
  return computations.Submit(call->caller().tenant,
                             [call, name, list, size, page = *std::move(page)] {
                               call->Succeed(PageOf(name, list, size, page));
                             });
}

// Returns the session of a preview, or its budget without a session.
absl::StatusOr<core::SessionName> PreviewedName(const v1::PreviewChargeRequest& request) {
  if (request.budget().empty()) {
    if (request.expects_event()) {
      return absl::InvalidArgumentError(
          "expectsEvent: got true, want it with `budget`: a session that is there has said what it "
          "expects");
    }
    return ParseSessionName("session", request.session());
  }
  if (!request.session().empty()) {
    return absl::InvalidArgumentError("budget: got it beside `session`, want one of the two");
  }
  ASSIGN_OR_RETURN(std::string id, ParseBudgetName("budget", request.budget()));
  return core::SessionName{.budget_id = std::move(id), .session_id = ""};
}

// Returns what the new attempt of a preview declares; nothing if it is about the current one.
absl::StatusOr<std::optional<core::Provenance>> PreviewedAttempt(
    const v1::PreviewChargeRequest& request) {
  if (!request.has_provenance()) return std::nullopt;
  if (request.session().empty()) {
    return absl::InvalidArgumentError(
        "provenance: got it without `session`, want the session of the new attempt");
  }
  ASSIGN_OR_RETURN(core::Provenance provenance, FromProto(request.provenance(), "provenance"));
  return provenance;
}

void AnswerPreview(const core::Preview& preview, bool for_new_attempt, const Call& call) {
  v1::PreviewChargeResponse response;
  response.set_for_new_attempt(for_new_attempt);
  response.set_decision(preview.refusal ? v1::Charge::REFUSED : v1::Charge::ACCEPTED);
  if (preview.refusal) ToProto(*preview.refusal, response.mutable_refusal());
  response.set_steps_that_fit(preview.steps_that_fit);
  call->Succeed(response);
}

template <class Request>
absl::StatusOr<SubmitOptions> OptionsOf(const Request& request, const HeadKey& key,
                                        const Call& call) {
  ASSIGN_OR_RETURN(std::optional<core::SeenHead> seen,
                   ReadSeenHead(request.last_seen_head(), request.has_last_seen_head(), key,
                                call->caller().tenant));
  return SubmitOptions{.validate_only = request.validate_only(), .last_seen = std::move(seen)};
}

// Answers with the outcome of a lease's charge: refused, open, or settled already.
void AnswerLease(const HandlerContext& context, const core::SessionName& session,
                 const core::ChargeRecord& charge, const Call& call) {
  if (charge.row.decision != core::ChargeDecision::kAccepted) {
    v1::Charge refused;
    ToProto(session, charge, &refused);
    AddHeadTag(*context.head_key, call->caller().tenant, session.budget_id, &refused);
    call->Fail(RefusedCharge(refused));
    return;
  }
  ReadState(
      context.ledger, call,
      [call, session, charge, key = context.head_key](core::LedgerReader& reader) -> absl::Status {
        const int64_t attempt = charge.row.attempt;
        const std::string& id = charge.row.charge_id;
        v1::Lease message;
        const core::SessionState& state = *reader.LedgerOf(session.budget_id)->FindSession(session);
        for (const core::OpenLease& lease : state.open_leases) {
          if (lease.attempt != attempt || lease.id != id) continue;
          ToProto(session, lease, &message);
          bridge::ToProto(*charge.event, message.mutable_event());
          AddHeadTag(*key, call->caller().tenant, session.budget_id, &message);
          call->Succeed(message);
          return absl::OkStatus();
        }
        ASSIGN_OR_RETURN(const std::optional<core::LeaseSettled> settled,
                         reader.FindSettlement(session, attempt, id));
        std::optional<int64_t> used_count;
        if (settled.has_value()) used_count = settled->used_count;
        ToProto(session, charge, used_count, &message);
        AddHeadTag(*key, call->caller().tenant, session.budget_id, &message);
        call->Succeed(message);
        return absl::OkStatus();
      });
}

class ChargeHandlers {
 public:
  explicit ChargeHandlers(HandlerContext context) : context_(std::move(context)) {}

  void Charge(wire::UnaryRequest arrived) {
    Handle<v1::ChargeRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ChargeRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::Charge charge, FromProto(request));
          ASSIGN_OR_RETURN(SubmitOptions options, OptionsOf(request, *context_.head_key, call));
          core::SessionName session = charge.session;
          SubmitNow<core::ChargeOutcome>(
              context_.ledger, std::move(charge), std::move(options), call,
              [call, key = context_.head_key,
               session = std::move(session)](const core::ChargeOutcome& outcome) {
                ArenaMessage<v1::Charge> on_arena;
                v1::Charge& message = *on_arena;
                ToProto(session, outcome.records[0], &message);
                AddHeadTag(*key, call->caller().tenant, session.budget_id, &message);
                if (message.decision() == v1::Charge::ACCEPTED) {
                  call->Succeed(message);
                } else {
                  call->Fail(RefusedCharge(message));
                }
              });
          return absl::OkStatus();
        });
  }

  void BatchCharge(wire::UnaryRequest arrived) {
    Handle<v1::BatchChargeRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::BatchChargeRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::Charge charge, FromProto(request));
          ASSIGN_OR_RETURN(SubmitOptions options, OptionsOf(request, *context_.head_key, call));
          core::SessionName session = charge.session;
          SubmitNow<core::ChargeOutcome>(
              context_.ledger, std::move(charge), std::move(options), call,
              [call, key = context_.head_key,
               session = std::move(session)](const core::ChargeOutcome& outcome) {
                ArenaMessage<v1::BatchChargeResponse> on_arena;
                v1::BatchChargeResponse& message = *on_arena;
                for (const core::ChargeRecord& record : outcome.records) {
                  v1::ChargeResult* result = message.add_results();
                  const bool accepted = record.row.decision == core::ChargeDecision::kAccepted;
                  v1::Charge* decided =
                      accepted ? result->mutable_accepted() : result->mutable_refused();
                  ToProto(session, record, decided);
                  AddHeadTag(*key, call->caller().tenant, session.budget_id, decided);
                }
                call->Succeed(message);
              });
          return absl::OkStatus();
        });
  }

  void PreviewCharge(wire::UnaryRequest arrived) {
    Handle<v1::PreviewChargeRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::PreviewChargeRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SessionName name, PreviewedName(request));
          ASSIGN_OR_RETURN(std::optional<core::Provenance> attempt, PreviewedAttempt(request));
          ASSIGN_OR_RETURN(accounting::MechanismEvent event,
                           bridge::FromProto(request.event(), "event"));
          RETURN_IF_ERROR(
              accounting::CheckRange("count", request.count(), 1, accounting::kMaxEventCount));
          SubmitNow<core::Preview>(
              context_.ledger,
              core::ChargePreview{.session = std::move(name),
                                  .expects_event = request.expects_event(),
                                  .event = std::move(event),
                                  .count = request.count(),
                                  .new_attempt = std::move(attempt)},
              {.validate_only = true}, call,
              [call, for_new_attempt = request.has_provenance()](const core::Preview& preview) {
                AnswerPreview(preview, for_new_attempt, call);
              });
          return absl::OkStatus();
        });
  }

  void GetCharge(wire::UnaryRequest arrived) {
    Handle<v1::GetChargeRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetChargeRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<ChargeName> name = ParseChargeName("name", request.name());
          if (!name.ok()) return name.status();
          ReadState(
              context_.ledger, call,
              [call, name = *std::move(name), key = context_.head_key](core::LedgerReader& reader) {
                return AnswerCharge(reader, name, *key, call);
              });
          return absl::OkStatus();
        });
  }

  void ListCharges(wire::UnaryRequest arrived) {
    Handle<v1::ListChargesRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListChargesRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<core::SessionName> name = ParseSessionName("parent", request.parent());
          if (!name.ok()) return name.status();
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          const std::string list = request.parent() + "/charges";
          ASSIGN_OR_RETURN(const std::string token, ReadPageToken(list, request.page_token()));
          int64_t after = 0;  // of an empty token
          std::from_chars(token.data(), token.data() + token.size(), after);
          ReadState(context_.ledger, call,
                    [call, name = *std::move(name), list, after, size = *size,
                     computations = context_.computations](core::LedgerReader& reader) {
                      return AnswerList(reader, name, list, after, size, *computations, call);
                    });
          return absl::OkStatus();
        });
  }

  void ListRefusals(wire::UnaryRequest arrived) {
    Handle<v1::ListRefusalsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListRefusalsRequest& request, const Call& call) {
          return transport::ListRefusals(context_, request, call);
        });
  }

  void AcquireLease(wire::UnaryRequest arrived) {
    Handle<v1::AcquireLeaseRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::AcquireLeaseRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::Charge charge,
                           FromProto(request, absl::ToUnixMicros(absl::Now())));
          ASSIGN_OR_RETURN(SubmitOptions options, OptionsOf(request, *context_.head_key, call));
          core::SessionName session = charge.session;
          SubmitNow<core::ChargeOutcome>(
              context_.ledger, std::move(charge), std::move(options), call,
              [context = context_, call, session](const core::ChargeOutcome& outcome) {
                AnswerLease(context, session, outcome.records[0], call);
              });
          return absl::OkStatus();
        });
  }

  void SettleLease(wire::UnaryRequest arrived) {
    Handle<v1::SettleLeaseRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::SettleLeaseRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SettleLease settle, FromProto(request));
          core::SessionName session = settle.session;
          SubmitNow<core::SettleOutcome>(context_.ledger, std::move(settle), {}, call,
                                         [call, session](const core::SettleOutcome& outcome) {
                                           v1::Lease message;
                                           ToProto(session, outcome.charge, outcome.used_count,
                                                   &message);
                                           call->Succeed(message);
                                         });
          return absl::OkStatus();
        });
  }

 private:
  const HandlerContext context_;
};

}  // namespace

void AddChargeService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.ChargeService", std::make_shared<ChargeHandlers>(context),
              {{"Charge", &ChargeHandlers::Charge},
               {"BatchCharge", &ChargeHandlers::BatchCharge},
               {"PreviewCharge", &ChargeHandlers::PreviewCharge},
               {"GetCharge", &ChargeHandlers::GetCharge},
               {"ListCharges", &ChargeHandlers::ListCharges},
               {"ListRefusals", &ChargeHandlers::ListRefusals},
               {"AcquireLease", &ChargeHandlers::AcquireLease},
               {"SettleLease", &ChargeHandlers::SettleLease}});
  methods.AddStream("epsledger.v1.ChargeService.StreamCharges",
                    [context](wire::StreamRequest arrived) {
                      return ChargeStream::Start(context, std::move(arrived));
                    });
}

}  // namespace epsledger::transport
