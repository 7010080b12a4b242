#include "server/transport/http/rpc_gateway.h"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/grpc/ledger_services.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;

std::unique_ptr<Message> NewMessage(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(type)->New());
}

wire::Peer PeerOf(const HttpCaller& caller) {
  return {.is_over_http = true,
          .is_on_this_machine = caller.confidential && !caller.tls,
          .is_encrypted = caller.tls,
          .address = caller.peer,
          .certificate_pem = caller.client_certificate_pem};
}

wire::CallOrigin OriginOf(const HttpCaller& caller) {
  wire::CallOrigin origin{.peer = std::make_shared<const wire::Peer>(PeerOf(caller)),
                          .authorization = {},
                          .client = caller.client,
                          .request_id = caller.request_id,
                          .traceparent = caller.traceparent};
  if (!caller.authorization.empty()) origin.authorization = caller.authorization;
  return origin;
}

// Returns nullptr if the bytes are not such a message, which a server of this process never sends.
std::unique_ptr<Message> FromBytes(const MethodDescriptor& method, const std::string& bytes) {
  std::unique_ptr<Message> message = NewMessage(method.output_type());
  return message->ParseFromString(bytes) ? std::move(message) : nullptr;
}

// The answers of one stream, which are read one by one: asking for the next answer tells the call
// that the previous one is taken. The reader and the call share it until the call ends.
class StreamReader {
 public:
  using Callback = RpcGateway::Stream::Message;

  explicit StreamReader(const MethodDescriptor& method) : method_(method) {}

  // The call has begun, unless it has ended already.
  void Begin(std::shared_ptr<wire::StreamedCall> call) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!ended_) call_ = std::move(call);
  }

  void Read(Callback callback) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::unique_ptr<Message> message;
    std::shared_ptr<wire::StreamedCall> call;
    {
      absl::MutexLock lock(&mutex_);
      message = std::move(next_);
      if (message == nullptr && !ended_) {
        waiting_ = std::move(callback);
        if (std::exchange(owes_, false)) call = call_;
      }
      if (message != nullptr) owes_ = true;
    }
    if (call != nullptr) return call->OnAnswerTaken();
    if (callback) std::move(callback)(std::move(message));
  }

  void OnAnswer(const std::string& bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::unique_ptr<Message> message = FromBytes(method_, bytes);
    std::optional<Callback> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting = std::exchange(waiting_, std::nullopt);
      owes_ = waiting.has_value();
      if (!waiting) next_ = std::move(message);
    }
    if (waiting) (*std::move(waiting))(std::move(message));
  }

  void OnEnd(const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Callback> waiting;
    std::shared_ptr<wire::StreamedCall> call;  // destroyed last
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
      status_ = status;
      call = std::move(call_);
      waiting = std::exchange(waiting_, std::nullopt);
    }
    if (waiting) (*std::move(waiting))(nullptr);
  }

  void Abandon() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Callback> dropped;
    std::shared_ptr<wire::StreamedCall> call;
    {
      absl::MutexLock lock(&mutex_);
      dropped = std::exchange(waiting_, std::nullopt);
      call = std::move(call_);
    }
    if (call != nullptr) call->OnGone();
  }

  grpc::Status status() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  const MethodDescriptor& method_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<wire::StreamedCall> call_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Message> next_ ABSL_GUARDED_BY(mutex_);  // arrived before it was asked for
  std::optional<Callback> waiting_ ABSL_GUARDED_BY(mutex_);
  bool owes_ ABSL_GUARDED_BY(mutex_) = false;  // the call waits until its answer is taken
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

// The client for methods with one request, whose calls need no Wake.
class ReaderAsClient final : public wire::StreamClient {
 public:
  explicit ReaderAsClient(std::shared_ptr<StreamReader> reader) : reader_(std::move(reader)) {}

  void AskForRequest() override {}
  void Answer(std::string message, bool) override { reader_->OnAnswer(message); }
  void Wake() override {}
  void End(const grpc::Status& status) override { reader_->OnEnd(status); }

 private:
  const std::shared_ptr<StreamReader> reader_;
};

class OpenStream final : public RpcGateway::Stream {
 public:
  explicit OpenStream(std::shared_ptr<StreamReader> reader) : reader_(std::move(reader)) {}
  ~OpenStream() override { reader_->Abandon(); }

  void Read(Message message) override { reader_->Read(std::move(message)); }
  grpc::Status status() const override { return reader_->status(); }

 private:
  const std::shared_ptr<StreamReader> reader_;
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

// Decides who may still call.
class RpcGateway::Doorkeeper {
 public:
  // Returns false once the gateway drains. REQUIRES: one Leave for each true.
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
    : services_(std::move(services)), doorkeeper_(std::make_shared<Doorkeeper>()) {}

void RpcGateway::Drain(absl::Duration patience) { doorkeeper_->Drain(patience); }

const std::vector<const MethodDescriptor*>& RpcGateway::UnaryMethods() {
  static const auto& methods = *new std::vector<const MethodDescriptor*>([] {
    std::vector<const MethodDescriptor*> found;
    for (const MethodDescriptor* method : LedgerMethods()) {
      if (!method->client_streaming() && !method->server_streaming()) found.push_back(method);
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

// The answer to one call over HTTP.
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
  // An HTTP connection does not report this.
  bool IsGone() override { return false; }

 private:
  const MethodDescriptor& method_;
  const std::shared_ptr<Doorkeeper> doorkeeper_;
  Done done_;
};

void RpcGateway::Call(const MethodDescriptor& method, const Message& request,
                      const HttpCaller& caller, absl::Duration timeout, Done done) {
  if (!doorkeeper_->Enter()) return std::move(done)(NothingDone(), nullptr);
  services_.methods.FindUnary(method.full_name())(
      {.origin = OriginOf(caller),
       .message = request.SerializeAsString(),
       .deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout),
       .responder = std::make_unique<Answer>(method, doorkeeper_, std::move(done))});
}

std::unique_ptr<RpcGateway::Stream> RpcGateway::Open(const MethodDescriptor& method,
                                                     const Message& request,
                                                     const HttpCaller& caller) {
  if (!doorkeeper_->Enter()) return std::make_unique<RefusedStream>();
  auto reader = std::make_shared<StreamReader>(method);
  reader->Begin(services_.methods.FindStream(method.full_name())(
      {.origin = OriginOf(caller),
       .message = request.SerializeAsString(),
       .deadline = {},
       .client = std::make_unique<ReaderAsClient>(reader)}));
  doorkeeper_->Leave();
  return std::make_unique<OpenStream>(std::move(reader));
}

}  // namespace epsledger::transport
