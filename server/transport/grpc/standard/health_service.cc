#include "server/transport/grpc/standard/health_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.pb.h"
#include "server/transport/grpc/calls/stream_outbox.h"
#include "server/transport/grpc/calls/unary_call.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

using Request = grpc::health::v1::HealthCheckRequest;
using Response = grpc::health::v1::HealthCheckResponse;

std::string Say(Response::ServingStatus status) {
  Response response;
  response.set_status(status);
  return response.SerializeAsString();
}

Response::ServingStatus StatusOf(bool serving) {
  return serving ? Response::SERVING : Response::NOT_SERVING;
}

}  // namespace

// One call of Watch, from its first answer to the client's end. It sends the newest status, and
// skips changes while the client takes nothing.
class HealthService::Watch final : public wire::StreamedCall {
 public:
  // A service that is not `known` has the same status forever.
  Watch(std::shared_ptr<const HealthService> service, bool known,
        std::unique_ptr<wire::StreamClient> client)
      : service_(std::move(service)), known_(known), outbox_(std::move(client)) {}

  // Sends the present status, if the client got another one or none.
  void TellNewest() {
    StreamTurn turn(mutex_, outbox_);
    const Response::ServingStatus newest =
        known_ ? StatusOf(service_->IsServing()) : Response::SERVICE_UNKNOWN;
    if (writing_ || newest == told_) return;
    writing_ = true;
    told_ = newest;
    outbox_.Answer(Say(newest));
  }
  void End(const grpc::Status& status) {
    StreamTurn turn(mutex_, outbox_);
    outbox_.End(status);
  }

  void OnRequest(std::string) override {}
  void OnNoMoreRequests() override {}
  void OnAnswerTaken() override {
    {
      StreamTurn turn(mutex_, outbox_);
      writing_ = false;
    }
    TellNewest();
  }
  void OnGone() override { End(ClientGone()); }

 private:
  const std::shared_ptr<const HealthService> service_;
  const bool known_;
  // Guards the fields below.
  absl::Mutex mutex_;
  StreamOutbox outbox_;
  std::optional<Response::ServingStatus> told_;
  bool writing_ = false;
};

void HealthService::AddTo(ServiceMethods& methods, const std::shared_ptr<HealthService>& service) {
  methods.Add(kHealthService, service, {{"Check", &HealthService::Check}});
  methods.AddStream(absl::StrCat(kHealthService, ".Watch"), [service](wire::StreamRequest request) {
    return service->Begin(std::move(request));
  });
}

bool HealthService::Knows(const std::string& name) const {
  return name.empty() || std::find(services_.begin(), services_.end(), name) != services_.end();
}

bool HealthService::IsServing() const {
  absl::MutexLock lock(&mutex_);
  return serving_;
}

void HealthService::Check(wire::UnaryRequest request) {
  Request check;
  if (const absl::Status status = ReadRequest(request.message, &check); !status.ok()) {
    return request.responder->Respond(ToGrpcStatus(status), "");
  }
  if (!Knows(check.service())) {
    return request.responder->Respond({grpc::StatusCode::NOT_FOUND, "there is no such service"},
                                      "");
  }
  request.responder->Respond(grpc::Status::OK, Say(StatusOf(IsServing())));
}

std::shared_ptr<wire::StreamedCall> HealthService::Begin(wire::StreamRequest request) {
  Request check;
  const absl::Status status = ReadRequest(request.message, &check);
  auto watch = std::make_shared<Watch>(shared_from_this(), Knows(check.service()),
                                       std::move(request.client));
  if (!status.ok()) {
    watch->End(ToGrpcStatus(status));
    return watch;
  }
  {
    absl::MutexLock lock(&mutex_);
    watches_.remove_if([](const auto& weak) { return weak.expired(); });
    watches_.push_back(watch);
  }
  watch->TellNewest();
  return watch;
}

void HealthService::SetServing(bool serving) {
  std::vector<std::shared_ptr<Watch>> watches;
  {
    absl::MutexLock lock(&mutex_);
    if (std::exchange(serving_, serving) == serving) return;
    for (const auto& weak : watches_) {
      if (std::shared_ptr<Watch> watch = weak.lock()) watches.push_back(std::move(watch));
    }
  }
  for (const auto& watch : watches) watch->TellNewest();
}

}  // namespace epsledger::transport
