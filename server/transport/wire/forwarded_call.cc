#include "server/transport/wire/forwarded_call.h"

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/client_callback.h"

namespace epsledger::transport::wire {
namespace {

grpc::ByteBuffer ToBytes(const std::string& message) {
  const grpc::Slice slice(message);
  return {&slice, 1};
}

std::string FromBytes(const grpc::ByteBuffer& bytes) {
  std::string message;
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return message;
  message.reserve(bytes.Length());
  for (const grpc::Slice& slice : slices) {
    message.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return message;
}

void Prepare(const ForwardedHead& head, grpc::ClientContext* context) {
  for (const auto& [name, value] : head.metadata) context->AddMetadata(name, value);
  if (head.deadline) context->set_deadline(*head.deadline);
}

// gRPC holds it until OnDone. Between Start and the end of the answer a hold of its own lets reads
// and writes begin at any time.
class ForwardedStream final : public ForwardedCall,
                              public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit ForwardedStream(std::unique_ptr<CallObserver> observer)
      : observer_(std::move(observer)) {}

  static void Start(std::shared_ptr<ForwardedStream> self, grpc::GenericStub& stub,
                    const ForwardedHead& head) {
    ForwardedStream& call = *self;
    call.self_ = std::move(self);
    Prepare(head, &call.context_);
    stub.PrepareBidiStreamingCall(&call.context_, head.path, grpc::StubOptions(), &call);
    call.AddHold();
    call.StartRead(&call.answer_);
    call.StartCall();
  }

  // Also lets go of the hold: where no read is open, none would fail and do it.
  void Cancel() override ABSL_LOCKS_EXCLUDED(mutex_) {
    context_.TryCancel();
    LetGo();
  }

  void Write(const std::string& message) override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!held_) return;  // the end has come, or comes
    request_ = ToBytes(message);
    StartWrite(&request_);
  }

  void WritesDone() override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (held_) StartWritesDone();
  }

  void Read() override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (held_) StartRead(&answer_);
  }

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_) {
    if (ok) return observer_->OnMessage(FromBytes(answer_));
    LetGo();
  }

  void OnWriteDone(bool) override { observer_->OnWritten(); }

  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<ForwardedStream> self = std::move(self_);  // let go of last
    observer_->OnEnd(status);
    observer_.reset();
  }

 private:
  void LetGo() ABSL_LOCKS_EXCLUDED(mutex_) {
    bool held = false;
    {
      absl::MutexLock lock(&mutex_);
      held = std::exchange(held_, false);
    }
    if (held) RemoveHold();
  }

  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  std::unique_ptr<CallObserver> observer_;
  std::shared_ptr<ForwardedStream> self_;
  absl::Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace

std::shared_ptr<ForwardedCall> ForwardedCall::Start(grpc::GenericStub& stub,
                                                    const ForwardedHead& head,
                                                    std::unique_ptr<CallObserver> observer) {
  auto call = std::make_shared<ForwardedStream>(std::move(observer));
  ForwardedStream::Start(call, stub, head);
  return call;
}

}  // namespace epsledger::transport::wire
