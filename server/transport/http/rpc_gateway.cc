#include "server/transport/http/rpc_gateway.h"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/charge_service.pb.h"
#include "epsledger/v1/server_service.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "server/transport/grpc/calls/admission.h"

namespace epsledger::transport {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;

std::string PathOf(const MethodDescriptor& method) {
  return absl::StrCat("/", method.service()->full_name(), "/", method.name());
}

std::unique_ptr<Message> NewMessage(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(type)->New());
}

grpc::ByteBuffer ToBytes(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

wire::Peer PeerOf(const HttpCaller& caller) {
  return {.is_over_http = true,
          .is_on_this_machine = caller.confidential && !caller.tls,
          .is_encrypted = caller.tls,
          .certificate_pem = caller.client_certificate_pem};
}

// nullptr if the bytes are no such message, which a server of this process never sends.
std::unique_ptr<Message> FromBytes(const MethodDescriptor& method, grpc::ByteBuffer* bytes) {
  std::unique_ptr<Message> message = NewMessage(method.output_type());
  grpc::ProtoBufferReader reader(bytes);
  if (!message->ParseFromZeroCopyStream(&reader)) return nullptr;
  return message;
}

// Keeps itself until gRPC is done with it; Stream's owner lets go through `abandoned`.
class StreamReactor final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamReactor(const MethodDescriptor& method, const Message& request)
      : method_(method), request_(ToBytes(request)) {}

  grpc::ClientContext* context() { return &context_; }

  void Start(grpc::GenericStub& stub, std::shared_ptr<StreamReactor> self) {
    self_ = std::move(self);
    stub.PrepareBidiStreamingCall(&context_, PathOf(method_), grpc::StubOptions(), this);
    // The hold lets reads begin at any time until it is taken back.
    AddHold();
    StartWriteLast(&request_, grpc::WriteOptions());
    StartCall();
  }

  void Read(RpcGateway::Stream::Message message) {
    bool ended = false;
    {
      absl::MutexLock lock(&mutex_);
      ended = ended_;
      if (!ended) waiting_ = std::move(message);
    }
    if (ended) return std::move(message)(nullptr);
    StartRead(&answer_);
  }

  void Abandon() {
    std::optional<RpcGateway::Stream::Message> dropped;
    bool held = false;
    {
      absl::MutexLock lock(&mutex_);
      dropped = std::exchange(waiting_, std::nullopt);
      held = std::exchange(held_, false);
    }
    context_.TryCancel();
    if (held) RemoveHold();
  }

  grpc::Status status() const {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End();
    std::unique_ptr<Message> message = FromBytes(method_, &answer_);
    if (message == nullptr) return End();
    if (auto waiting = Take()) (*std::move(waiting))(std::move(message));
  }

  // The status is known once OnDone came, so the end is told there.
  void OnDone(const grpc::Status& status) override {
    std::optional<RpcGateway::Stream::Message> waiting;
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
      status_ = status;
      waiting = std::exchange(waiting_, std::nullopt);
    }
    if (waiting) (*std::move(waiting))(nullptr);
    self_.reset();
  }

 private:
  std::optional<RpcGateway::Stream::Message> Take() {
    absl::MutexLock lock(&mutex_);
    return std::exchange(waiting_, std::nullopt);
  }

  void End() {
    bool held = false;
    {
      absl::MutexLock lock(&mutex_);
      held = std::exchange(held_, false);
    }
    if (held) RemoveHold();
  }

  const MethodDescriptor& method_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  std::shared_ptr<StreamReactor> self_;

  mutable absl::Mutex mutex_;
  std::optional<RpcGateway::Stream::Message> waiting_ ABSL_GUARDED_BY(mutex_);
  bool held_ ABSL_GUARDED_BY(mutex_) = true;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

class OpenStream final : public RpcGateway::Stream {
 public:
  explicit OpenStream(std::shared_ptr<StreamReactor> reactor) : reactor_(std::move(reactor)) {}
  ~OpenStream() override { reactor_->Abandon(); }

  void Read(Message message) override { reactor_->Read(std::move(message)); }
  grpc::Status status() const override { return reactor_->status(); }

 private:
  const std::shared_ptr<StreamReactor> reactor_;
};

const grpc::Status& NothingDone() {
  static const auto& status = *new grpc::Status(
      grpc::StatusCode::UNAVAILABLE, "the server is stopping: nothing was done, try again");
  return status;
}

class RefusedStream final : public RpcGateway::Stream {
 public:
  void Read(Message message) override { std::move(message)(nullptr); }
  grpc::Status status() const override { return NothingDone(); }
};

}  // namespace

// Who may still use the channel.
class RpcGateway::Doorkeeper {
 public:
  // False once the gateway drains. REQUIRES: one Leave for each true.
  bool Enter() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (draining_) return false;
    ++inside_;
    return true;
  }
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    --inside_;
  }
  void Drain(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    mutex_.AwaitWithTimeout(absl::Condition(
                                +[](int64_t* inside) { return *inside == 0; }, &inside_),
                            patience);
  }

 private:
  absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

RpcGateway::RpcGateway(InProcess services)
    : services_(std::move(services)),
      stub_(std::make_shared<grpc::GenericStub>(services_.channel)),
      doorkeeper_(std::make_shared<Doorkeeper>()) {}

void RpcGateway::Drain(absl::Duration patience) { doorkeeper_->Drain(patience); }

void RpcGateway::Introduce(const HttpCaller& caller, grpc::ClientContext* context) const {
  if (!caller.authorization.empty()) context->AddMetadata("authorization", caller.authorization);
  for (const auto& [name, value] : services_.introduce(PeerOf(caller))) {
    context->AddMetadata(name, value);
  }
}

const std::vector<const MethodDescriptor*>& RpcGateway::UnaryMethods() {
  static const auto& methods = *new std::vector<const MethodDescriptor*>([] {
    std::vector<const MethodDescriptor*> found;
    for (const FileDescriptor* file :
         {v1::GetServerInfoRequest::descriptor()->file(),
          v1::GetCallerRequest::descriptor()->file(), v1::GetBudgetRequest::descriptor()->file(),
          v1::GetSessionRequest::descriptor()->file(), v1::ChargeRequest::descriptor()->file(),
          v1::ComputeRequest::descriptor()->file(), v1::ListDenialsRequest::descriptor()->file()}) {
      for (int s = 0; s < file->service_count(); ++s) {
        for (int m = 0; m < file->service(s)->method_count(); ++m) {
          const MethodDescriptor* method = file->service(s)->method(m);
          if (!method->client_streaming() && !method->server_streaming()) found.push_back(method);
        }
      }
    }
    return found;
  }());
  return methods;
}

const MethodDescriptor* RpcGateway::FindUnaryMethod(std::string_view full_name) {
  static const auto& by_name = *new std::map<std::string, const MethodDescriptor*, std::less<>>([] {
    std::map<std::string, const MethodDescriptor*, std::less<>> names;
    for (const MethodDescriptor* method : UnaryMethods()) names[method->full_name()] = method;
    return names;
  }());
  const auto found = by_name.find(full_name);
  return found == by_name.end() ? nullptr : found->second;
}

std::unique_ptr<Message> RpcGateway::NewRequest(const MethodDescriptor& method) {
  return NewMessage(method.input_type());
}

// Of one call over HTTP.
class RpcGateway::Answer final : public wire::Responder {
 public:
  Answer(const MethodDescriptor& method, std::shared_ptr<Doorkeeper> doorkeeper, Done done)
      : method_(method), doorkeeper_(std::move(doorkeeper)), done_(std::move(done)) {}

  void Respond(const grpc::Status& status, std::string message) override {
    std::unique_ptr<Message> answer;
    if (status.ok()) {
      answer = NewMessage(method_.output_type());
      if (!answer->ParseFromString(message)) answer = nullptr;
    }
    if (status.ok() && answer == nullptr) {
      std::move(done_)({grpc::StatusCode::INTERNAL, "unreadable answer"}, nullptr);
    } else {
      std::move(done_)(status, std::move(answer));
    }
    doorkeeper_->Leave();
  }
  // A connection of HTTP does not say so.
  bool IsGone() override { return false; }

 private:
  const MethodDescriptor& method_;
  const std::shared_ptr<Doorkeeper> doorkeeper_;
  Done done_;
};

void RpcGateway::Call(const MethodDescriptor& method, const Message& request,
                      const HttpCaller& caller, absl::Duration timeout, Done done) {
  if (!doorkeeper_->Enter()) return std::move(done)(NothingDone(), nullptr);
  wire::UnaryRequest unary{
      .origin = {.peer = std::make_shared<const wire::Peer>(PeerOf(caller)), .authorization = {}},
      .message = request.SerializeAsString(),
      .deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout),
      .responder = std::make_unique<Answer>(method, doorkeeper_, std::move(done))};
  if (!caller.authorization.empty()) unary.origin.authorization = caller.authorization;
  (*services_.unary_methods.Find(method.full_name()))(std::move(unary));
}

std::unique_ptr<RpcGateway::Stream> RpcGateway::Open(const MethodDescriptor& method,
                                                     const Message& request,
                                                     const HttpCaller& caller) {
  if (!doorkeeper_->Enter()) return std::make_unique<RefusedStream>();
  auto reactor = std::make_shared<StreamReactor>(method, request);
  Introduce(caller, reactor->context());
  reactor->Start(*stub_, reactor);
  doorkeeper_->Leave();
  return std::make_unique<OpenStream>(std::move(reactor));
}

}  // namespace epsledger::transport
