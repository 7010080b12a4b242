#include "server/transport/http/change_reader.h"

#include <utility>

#include "absl/strings/match.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/change.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace epsledger::transport {
namespace {

template <class Request>
std::unique_ptr<RpcGateway::Stream> OpenWatch(RpcGateway& gateway, const char* method,
                                              const std::string& resource, int64_t after,
                                              const HttpCaller& caller) {
  Request request;
  request.set_name(resource);
  request.set_after_sequence(after);
  return gateway.Open(*google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(method),
                      request, caller);
}

std::unique_ptr<RpcGateway::Stream> WatchResource(RpcGateway& gateway, const std::string& resource,
                                                  int64_t after, const HttpCaller& caller) {
  if (absl::StrContains(resource, "/sessions/")) {
    return OpenWatch<v1::WatchSessionRequest>(gateway, "epsledger.v1.SessionService.WatchSession",
                                              resource, after, caller);
  }
  return OpenWatch<v1::WatchBudgetRequest>(gateway, "epsledger.v1.BudgetService.WatchBudget",
                                           resource, after, caller);
}

}  // namespace

ChangeReader::ChangeReader(RpcGateway& gateway, std::shared_ptr<TaskInbox> inbox,
                           std::string resource, int64_t after, const HttpCaller& caller)
    : resource_(std::move(resource)),
      watch_(WatchResource(gateway, resource_, after, caller)),
      tasks_(std::move(inbox)) {}

void ChangeReader::Read(Then then) {
  watch_->Read([post = tasks_.poster(), resource = resource_, then = std::move(then)](
                   std::unique_ptr<google::protobuf::Message> message) mutable {
    post.Post([resource = std::move(resource), then = std::move(then),
               message = std::move(message)]() mutable {
      if (message == nullptr) return std::move(then)(std::nullopt);
      std::move(then)(ToEvent(resource, static_cast<const v1::LedgerChange&>(*message)));
    });
  });
}

}  // namespace epsledger::transport
