#include "server/transport/grpc/handlers/charge_stream.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/charge_service.pb.h"
#include "google/rpc/status.pb.h"
#include "server/transport/grpc/calls/unary_call.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

absl::StatusOr<core::Command> ReadCommand(std::string_view bytes, const HeadKey& key,
                                          const access::Caller& caller) {
  ArenaMessage<v1::ChargeRequest> on_arena;
  v1::ChargeRequest& request = *on_arena;
  RETURN_IF_ERROR(ReadRequest(bytes, &request));
  ASSIGN_OR_RETURN(core::Charge charge, FromProto(request));
  ASSIGN_OR_RETURN(
      std::optional<core::SeenHead> seen,
      ReadSeenHead(request.last_seen_head(), request.has_last_seen_head(), key, caller.tenant));
  return core::Command{.time_micros = absl::ToUnixMicros(absl::Now()),
                       .validate_only = request.validate_only(),
                       .last_seen = std::move(seen),
                       .actor = access::ActorOf(caller),
                       .scope = caller.scope,
                       .body = std::move(charge)};
}

}  // namespace

std::shared_ptr<wire::StreamedCall> ChargeStream::Start(const HandlerContext& context,
                                                        wire::StreamRequest request) {
  std::shared_ptr<ChargeStream> stream(new ChargeStream(context, request));
  if (stream->Open().ok()) stream->Continue();
  return stream;
}

ChargeStream::ChargeStream(const HandlerContext& context, wire::StreamRequest& request)
    : StreamCall(context.open_streams, request, "epsledger.v1.ChargeService.StreamCharges"),
      ledger_(context.ledger),
      head_key_(context.head_key) {}

void ChargeStream::Drain() {
  {
    Turn turn(*this);
    draining_ = true;
  }
  Continue();
}

void ChargeStream::OnRequest(std::string message) {
  int64_t number = 0;
  {
    Turn turn(*this);
    if (ended_) return;
    number = first_number_ + static_cast<int64_t>(open_.size());
    open_.push_back({.arrival_time = SteadyNow(), .bytes = message.size()});
    open_bytes_ += message.size();
  }
  // Before asking for the next request, so that requests reach the ledger in the order of the
  // stream.
  Submit(message, number);
  {
    Turn turn(*this);
    asking_ = false;
  }
  Continue();
}

void ChargeStream::OnNoMoreRequests() {
  {
    Turn turn(*this);
    half_closed_ = true;
    asking_ = false;
  }
  Continue();
}

void ChargeStream::Submit(std::string_view message, int64_t number) {
  // Every request is a charge, and its caller is admitted as for any other charge.
  if (const absl::StatusOr<access::Caller> caller = Admit(); !caller.ok()) {
    return Fail(ToGrpcStatus(caller.status()));
  }
  absl::StatusOr<core::Command> command = ReadCommand(message, *head_key_, this->caller());
  if (!command.ok()) return Keep({number, {}, command.status()});
  core::SessionName session = std::get<core::Charge>(command->body).session;
  if (number == 0) set_resource(FormatSessionName(session));
  const auto self = std::static_pointer_cast<ChargeStream>(shared_from_this());
  command->abandoned = [self] { return self->Abandoned(); };
  ledger_.Submit(
      tenant(), *std::move(command),
      [self, number, session = std::move(session)](absl::StatusOr<core::Outcome> outcome) mutable {
        self->Keep({number, std::move(session), std::move(outcome)});
      });
}

void ChargeStream::Keep(Reply reply) {
  {
    absl::MutexLock lock(&replies_mutex_);
    replies_.push_back(std::move(reply));
    if (replies_.size() > 1) return;  // the thread that kept the first reply wakes the stream
  }
  Turn turn(*this);
  Wake();
}

void ChargeStream::OnWoken() {
  std::vector<Reply> replies;
  {
    absl::MutexLock lock(&replies_mutex_);
    replies.swap(replies_);
  }
  {
    Turn turn(*this);
    if (ended_) return;
    for (const Reply& reply : replies) {
      OpenRequest& request = open_[reply.number - first_number_];
      request.result = ResultOf(reply, request.arrival_time);
    }
  }
  Continue();
}

std::string ChargeStream::ResultOf(const Reply& reply, SteadyTime arrived) const {
  ArenaMessage<v1::ChargeResult> on_arena;
  v1::ChargeResult& result = *on_arena;
  const auto name = [&] {
    return reply.session.budget_id.empty() ? std::string() : FormatSessionName(reply.session);
  };
  if (!reply.outcome.ok()) {
    const grpc::Status status = ToGrpcStatus(reply.outcome.status());
    RecordRequest(name(), arrived, status);
    result.mutable_error()->ParseFromString(status.error_details());
    return result.SerializeAsString();
  }
  const core::ChargeRecord& record = std::get<core::ChargeOutcome>(*reply.outcome).records[0];
  const bool accepted = record.row.decision == core::ChargeDecision::kAccepted;
  v1::Charge* charge = accepted ? result.mutable_accepted() : result.mutable_refused();
  ToProto(reply.session, record, charge);
  AddHeadTag(*head_key_, tenant(), reply.session.budget_id, charge);
  if (!accepted && IsRecorded()) RecordRequest(name(), arrived, RefusedCharge(*charge));
  return result.SerializeAsString();
}

void ChargeStream::Continue() {
  Turn turn(*this);
  if (ended_) return;
  AskIfThereIsRoom();
  if (writing_) return;
  if (open_.empty()) {
    if (half_closed_) {
      End(grpc::Status::OK);
    } else if (draining_) {
      End(Stopping());
    }
    return;
  }
  if (!open_.front().result) {
    if (SteadyNow() - open_.front().arrival_time > kMaxCallDuration) End(HeldTooLong());
    return;
  }
  OpenRequest next = std::move(open_.front());
  open_.pop_front();
  ++first_number_;
  open_bytes_ -= next.bytes;
  Write(*std::move(next.result), !open_.empty());
  AskIfThereIsRoom();
}

void ChargeStream::AskIfThereIsRoom() {
  if (asking_ || half_closed_ || draining_) return;
  if (open_.size() >= kMaxStreamWindow || open_bytes_ >= kMaxStreamWindowBytes) return;
  asking_ = true;
  AskForRequest();
}

}  // namespace epsledger::transport
