#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_TOPMOST_BUDGETS_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_TOPMOST_BUDGETS_H_

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "epsledger/v1/budget_service.pb.h"
#include "server/core/durable_ledger.h"
#include "server/core/tenant.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/http/rpc_gateway.h"
#include "server/transport/http/task_inbox.h"

namespace epsledger::transport {

// The budgets whose parent a caller does not see: the roots, or what is granted. Finds new ones
// without asking again and again: the ledger calls after the commit that made a budget. It may be
// used only on the thread of the inbox.
class TopmostBudgets {
 public:
  // Called on the thread of the inbox with all topmost budgets.
  using Found = std::function<void(const std::set<std::string>& names)>;

  // Returns the budgets of a list whose parent is not in it.
  static std::set<std::string> Of(const v1::ListBudgetsResponse& budgets);

  // Finds them for the first time at the first KeepHouse, and again whenever the tenant gets a
  // budget, but at most twice a second. `tenant` is the caller's. REQUIRES: `gateway` and `ledger`
  // outlive this.
  TopmostBudgets(RpcGateway& gateway, core::DurableLedger& ledger, std::shared_ptr<TaskInbox> inbox,
                 core::Tenant tenant, HttpCaller caller, Found found);

  // Does what is due. Call it every now and then.
  void KeepHouse(SteadyTime now);

 private:
  class Listener;

  void OnNewBudget();
  // Makes the ledger call the listener, and then lists: no budget can be missed in between.
  void Listen();
  void List();

  RpcGateway& gateway_;
  core::DurableLedger& ledger_;
  const core::Tenant tenant_;
  const HttpCaller caller_;
  const Found found_;
  const TaskOwner tasks_;
  const std::shared_ptr<Listener> listener_;
  bool is_listening_ = false;
  bool is_due_ = true;
  SteadyTime not_before_ = -absl::InfiniteDuration();
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_TOPMOST_BUDGETS_H_
