#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_UNARY_CALL_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_UNARY_CALL_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"
#include "server/access/caller.h"
#include "server/access/method_rules.h"
#include "server/transport/grpc/calls/admission.h"
#include "server/transport/grpc/calls/call_record.h"
#include "server/transport/grpc/calls/granted_subject.h"
#include "server/transport/grpc/calls/open_calls.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// One unary call from its arrival to its one answer.
//
// Invariants: the responder gets exactly one answer, the first that anything tries (an answer of
// the ledger, of FailArrivedBefore, or of the destructor), and is destroyed after it. So an answer
// may come long after the client cancelled or the server gave up the call. Thread-safe.
class UnaryCall final : public OpenCall {
 public:
  // Returns nullptr, and answers the call UNAVAILABLE, if too many calls are open. Takes what it
  // needs from `request`, except the message. REQUIRES: `open_calls` outlives the call's answer;
  // `method` is in static storage.
  static std::shared_ptr<UnaryCall> Start(OpenCalls& open_calls, std::string_view method,
                                          wire::UnaryRequest& request);
  // Answers INTERNAL if nobody answered: a lost call must not look like a slow one.
  ~UnaryCall() override;
  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  void Succeed(const google::protobuf::Message& response) ABSL_LOCKS_EXCLUDED(mutex_);
  void Fail(const grpc::Status& status) override ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: !status.ok().
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns true if nobody waits for the answer any more: it was given, the client cancelled, or
  // its deadline passed. Unwanted work need not begin; what the ledger has already is not undone.
  bool Abandoned() ABSL_LOCKS_EXCLUDED(mutex_);
  // Answers DEADLINE_EXCEEDED if the deadline has passed.
  void KeepHouse(SteadyTime now) override ABSL_LOCKS_EXCLUDED(mutex_);

  const wire::CallOrigin& origin() const { return origin_; }
  // The caller. The call may end meanwhile. REQUIRES for caller(): it was set.
  void set_caller(access::Caller caller) ABSL_LOCKS_EXCLUDED(mutex_);
  const access::Caller& caller() const { return caller_; }
  // Returns Overload if the tenant has too many calls, or if the call `is_read` and the tenant
  // reads faster than allowed. REQUIRES: the caller was set; called once, before any other thread
  // has the call.
  absl::Status Claim(bool is_read);
  void set_request(const google::protobuf::Message& request, const ResourceFields& fields)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // What the request of a caller with grants reads. REQUIRES: no other thread has the call yet.
  void set_subject(std::optional<GrantedSubject> subject) { subject_ = std::move(subject); }
  const std::optional<GrantedSubject>& subject() const { return subject_; }

 private:
  UnaryCall(OpenCalls& open_calls, std::string_view method, wire::UnaryRequest& request);
  void Finish(wire::Responder& responder, const grpc::Status& status, std::string message)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the responder to the first caller, then nullptr.
  std::unique_ptr<wire::Responder> TakeResponder() ABSL_LOCKS_EXCLUDED(mutex_);

  OpenCalls& open_calls_;
  const std::string_view method_;
  const wire::CallOrigin origin_;
  const SteadyTime deadline_;
  access::Caller caller_;  // set under the mutex, and never changed again
  bool is_read_ = false;
  bool is_admitted_ = false;
  std::optional<GrantedSubject> subject_;
  metrics::RpcMetrics::Call measured_;  // used by the thread that took the responder
  absl::Mutex mutex_;
  std::unique_ptr<wire::Responder> responder_ ABSL_GUARDED_BY(mutex_);
  std::string resource_ ABSL_GUARDED_BY(mutex_);
};

using Call = std::shared_ptr<UnaryCall>;

// Reads a request of a client. INVALID_ARGUMENT if the bytes are not a message of that type (proto3
// text must be UTF-8; at most 100 levels), or if they contain a field that this version does not
// know: the field might change the meaning. Events are checked for unknown fields when they are
// converted.
absl::Status ReadRequest(std::string_view bytes, google::protobuf::Message* request);

// A message with all its parts, in few allocations and freed together. Small messages stay on the
// stack.
template <class Message>
class ArenaMessage {
 public:
  ArenaMessage() : arena_(Options(block_)) {}
  ArenaMessage(const ArenaMessage&) = delete;
  ArenaMessage& operator=(const ArenaMessage&) = delete;

  Message& operator*() { return *message_; }

 private:
  static google::protobuf::ArenaOptions Options(char (&block)[2048]) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = sizeof block;
    return options;
  }

  alignas(8) char block_[2048];
  google::protobuf::Arena arena_;
  Message* const message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
};

// The body of every unary method: admits the caller, reads the request and hands it to `handler`,
// absl::Status(const Request&, Call). If it returns an error, that is the answer; OK means that the
// handler has answered or will answer.
template <class Request, class Handler>
void Handle(OpenCalls& open_calls, wire::UnaryRequest arrived, const Handler& handler) {
  static const std::string_view method = MethodTaking(*Request::descriptor());
  const Call call = UnaryCall::Start(open_calls, method, arrived);
  if (call == nullptr) return;
  access::Caller denied;
  absl::StatusOr<access::Caller> caller =
      open_calls.admission().Admit(call->origin(), method, &denied);
  absl::Status status = caller.status();
  if (!status.ok()) call->set_caller(std::move(denied));
  ArenaMessage<Request> message;
  Request& request = *message;
  if (status.ok()) {
    call->set_caller(*std::move(caller));
    static const bool is_read = access::FindMethodRule(method)->IsRead();
    status = call->Claim(is_read);
  }
  if (status.ok()) status = ReadRequest(arrived.message, &request);
  if (status.ok()) {
    static const auto& fields = *new ResourceFields(*Request::descriptor());
    call->set_request(request, fields);
    if (call->caller().scope != nullptr) {
      call->set_subject(SubjectOf(request, access::FindMethodRule(method)->subject));
    }
    status = handler(request, call);
  }
  if (!status.ok()) call->Fail(status);
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_UNARY_CALL_H_
