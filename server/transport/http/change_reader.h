#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_READER_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "grpcpp/support/status.h"
#include "server/transport/http/change_event.h"
#include "server/transport/http/rpc_gateway.h"
#include "server/transport/http/task_inbox.h"

namespace epsledger::transport {

// Reads the changes of one resource, one after another: a watch of the gRPC services, which the
// ledger wakes after each commit. It may be used only on the thread of the inbox.
class ChangeReader {
 public:
  // Called with nullopt at the end of the watch.
  using Then = absl::AnyInvocable<void(std::optional<ChangeEvent>) &&>;

  // Watches "budgets/adult" or "budgets/adult/sessions/first" after a position, as `caller`.
  // REQUIRES: `gateway` outlives this.
  ChangeReader(RpcGateway& gateway, std::shared_ptr<TaskInbox> inbox, std::string resource,
               int64_t after, const HttpCaller& caller);

  // Calls `then` once on the thread of the inbox, unless this is destroyed before. REQUIRES: the
  // last Read was answered with a change.
  void Read(Then then);
  // Returns why the watch ended. REQUIRES: it has ended.
  grpc::Status status() const { return watch_->status(); }

 private:
  const std::string resource_;
  const std::unique_ptr<RpcGateway::Stream> watch_;
  const TaskOwner tasks_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_READER_H_
