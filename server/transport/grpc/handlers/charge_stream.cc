#include "server/transport/grpc/handlers/charge_stream.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "google/rpc/status.pb.h"
#include "server/transport/grpc/calls/unary_call.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

absl::StatusOr<core::Command> ReadCommand(const grpc::ByteBuffer& bytes, const HeadKey& key,
                                          const core::Tenant& tenant) {
  ArenaMessage<v1::ChargeRequest> on_arena;
  v1::ChargeRequest& request = *on_arena;
  absl::Status status = ReadRequest(bytes, &request);
  if (!status.ok()) return status;
  absl::StatusOr<core::Charge> charge = FromProto(request);
  if (!charge.ok()) return charge.status();
  absl::StatusOr<std::optional<core::SeenHead>> seen =
      ReadSeenHead(request.last_seen_head(), request.has_last_seen_head(), key, tenant);
  if (!seen.ok()) return seen.status();
  return core::Command{.time_micros = absl::ToUnixMicros(absl::Now()),
                       .validate_only = request.validate_only(),
                       .last_seen = *std::move(seen),
                       .body = *std::move(charge)};
}

v1::ChargeResult ErrorResult(const absl::Status& status) {
  v1::ChargeResult result;
  result.mutable_error()->ParseFromString(ToGrpcStatus(status).error_details());
  return result;
}

v1::ChargeResult ResultOf(const core::SessionName& session, const core::ChargeRecord& record,
                          const HeadKey& key, const core::Tenant& tenant) {
  v1::ChargeResult result;
  const bool accepted = record.row.decision == core::ChargeDecision::kAccepted;
  v1::Charge* charge = accepted ? result.mutable_accepted() : result.mutable_refused();
  ToProto(session, record, charge);
  AddHeadTag(key, tenant, session.budget_id, charge);
  return result;
}

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ChargeStream::Start(
    const HandlerContext& context, grpc::CallbackServerContext* call) {
  const std::shared_ptr<ChargeStream> stream(new ChargeStream(context, call));
  if (stream->Open().ok()) stream->Continue();
  return stream.get();
}

ChargeStream::ChargeStream(const HandlerContext& context, grpc::CallbackServerContext* call)
    : StreamCall(context.open_streams, call, "epsledger.v1.ChargeService.StreamCharges"),
      ledger_(context.ledger),
      head_key_(context.head_key) {}

void ChargeStream::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
  }
  Continue();
}

void ChargeStream::OnReadDone(bool ok) {
  Bytes bytes;
  int64_t number = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (ok && !ended_) {
      bytes.Swap(&request_);
      number = first_number_ + static_cast<int64_t>(open_.size());
      open_.push_back({.arrival_time = SteadyNow(), .bytes = bytes.Length()});
      open_bytes_ += bytes.Length();
    } else {
      half_closed_ = true;
    }
  }
  // Before the next is read: requests reach the ledger in the order of the stream.
  if (ok) Submit(bytes, number);
  {
    absl::MutexLock lock(&mutex_);
    reading_ = false;
  }
  Continue();
}

void ChargeStream::Submit(const grpc::ByteBuffer& bytes, int64_t number) {
  {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
  }
  // Every request is a charge, for which a caller must be allowed as for any other.
  if (const absl::StatusOr<access::Caller> caller = Admit(); !caller.ok()) {
    return Fail(ToGrpcStatus(caller.status()));
  }
  absl::StatusOr<core::Command> command = ReadCommand(bytes, *head_key_, tenant());
  if (!command.ok()) return Answer(number, ErrorResult(command.status()));
  const core::SessionName session = std::get<core::Charge>(command->body).session;
  std::shared_ptr<ChargeStream> self =
      std::static_pointer_cast<ChargeStream>(this->shared_from_this());
  ledger_.Submit(
      tenant(), *std::move(command),
      [self = std::move(self), number, session](const absl::StatusOr<core::Outcome>& outcome) {
        self->Answer(number,
                     outcome.ok()
                         ? ResultOf(session, std::get<core::ChargeOutcome>(*outcome).records[0],
                                    *self->head_key_, self->tenant())
                         : ErrorResult(outcome.status()));
      });
}

void ChargeStream::Answer(int64_t number, const v1::ChargeResult& result) {
  Bytes bytes = ToBytes(result);
  {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
    OpenRequest& request = open_[number - first_number_];
    request.answered = true;
    request.result.Swap(&bytes);
  }
  Continue();
}

void ChargeStream::Continue() {
  absl::MutexLock lock(&mutex_);
  if (ended_) return;
  ReadIfThereIsRoom();
  if (writing_) return;
  if (open_.empty()) {
    if (half_closed_) {
      End(grpc::Status::OK);
    } else if (draining_) {
      End(Stopping());
    }
    return;
  }
  if (!open_.front().answered) {
    if (SteadyNow() - open_.front().arrival_time > kMaxCallDuration) End(HeldTooLong());
    return;
  }
  OpenRequest next = std::move(open_.front());
  open_.pop_front();
  ++first_number_;
  open_bytes_ -= next.bytes;
  Write(std::move(next.result), !open_.empty() && open_.front().answered);
  ReadIfThereIsRoom();
}

void ChargeStream::ReadIfThereIsRoom() {
  if (reading_ || half_closed_ || draining_) return;
  if (open_.size() >= kMaxStreamWindow || open_bytes_ >= kMaxStreamWindowBytes) return;
  reading_ = true;
  StartRead(&request_);
}

}  // namespace epsledger::transport
