#include "server/transport/grpc/calls/stream_call.h"

#include <utility>

#include "server/access/method_rules.h"
#include "server/transport/grpc/calls/call_record.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {

StreamCall::StreamCall(std::shared_ptr<OpenCalls> open_streams, wire::StreamRequest& request,
                       std::string_view method)
    : open_streams_(std::move(open_streams)),
      method_(method),
      origin_(std::move(request.origin)),
      deadline_(SteadyDeadline(request.deadline)),
      measured_(open_streams_->metrics(), method_),
      outbox_(std::move(request.client)) {}

absl::Status StreamCall::Open() {
  const bool added = open_streams_->Add(shared_from_this());
  Turn turn(*this);
  absl::StatusOr<access::Caller> caller =
      open_streams_->admission().Admit(origin_, method_, &caller_);
  absl::Status status = caller.status();
  if (status.ok() && !added) status = TooManyStreams();
  if (status.ok()) {
    caller_ = *std::move(caller);
    is_admitted_ = true;
    admission_time_ = SteadyNow();
    const bool is_read = access::FindMethodRule(method_)->IsRead();
    if (is_read && !MayRead()) {
      status = ReadsTooFast();
    } else if (!open_streams_->Claim(*this, caller_)) {
      status = TooManyStreamsOfTenant();
    } else if (is_read) {
      CountRead(kBytesOfAnOpening);
    }
  }
  if (!status.ok()) End(ToGrpcStatus(status));
  return status;
}

absl::StatusOr<access::Caller> StreamCall::Admit() const {
  return open_streams_->admission().Admit(origin_, method_);
}

void StreamCall::RecordRequest(std::string resource, SteadyTime arrived,
                               const grpc::Status& status) const {
  Record(open_streams_->access_log(), method_, origin_, caller_, std::move(resource), arrived,
         status);
}

void StreamCall::Fail(const grpc::Status& status) {
  Turn turn(*this);
  End(status);
}

void StreamCall::KeepHouse(SteadyTime now) {
  {
    Turn turn(*this);
    if (ended_) return;
    if (now > deadline_) return End(DeadlinePassed());
    if (writing_ && now - write_time_ > kMaxWriteDuration) return End(SlowReader());
    if (now - admission_time_ > kReadmissionInterval) {
      admission_time_ = now;
      const absl::StatusOr<access::Caller> caller = Admit();
      if (!caller.ok()) return End(ToGrpcStatus(caller.status()));
    }
  }
  Continue();
}

void StreamCall::OnAnswerTaken() {
  {
    Turn turn(*this);
    writing_ = false;
    if (ended_) return;
  }
  Continue();
}

void StreamCall::OnGone() { Fail(ClientGone()); }

void StreamCall::Write(std::string message, bool more_follow) {
  if (ended_) return;
  writing_ = true;
  write_time_ = SteadyNow();
  outbox_.Answer(std::move(message), more_follow);
}

void StreamCall::Wake() { outbox_.Wake(); }

void StreamCall::AskForRequest() { outbox_.AskForRequest(); }

void StreamCall::End(const grpc::Status& status) {
  if (ended_) return;
  ended_ = true;
  measured_.End(static_cast<absl::StatusCode>(status.error_code()), ReasonOf(status));
  Record(open_streams_->access_log(), method_, origin_, caller_, std::move(resource_),
         arrival_time(), status);
  // Before the client gets the end: the server may end right after the last call.
  open_streams_->Remove(*this);
  if (is_admitted_ && IsRefusedForNow(status)) {
    outbox_.SlowDown(open_streams_->refusal_rate().Count(tenant()));
  }
  outbox_.End(status);
}

}  // namespace epsledger::transport
