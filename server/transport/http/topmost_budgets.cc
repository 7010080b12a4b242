#include "server/transport/http/topmost_budgets.h"

#include <utility>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace epsledger::transport {
namespace {

// The time between two lists.
constexpr absl::Duration kListInterval = absl::Milliseconds(500);
constexpr absl::Duration kListPatience = absl::Seconds(30);
// The largest page. A client may watch far fewer.
constexpr int kMaxListed = 1000;

}  // namespace

class TopmostBudgets::Listener final : public core::CommitListener {
 public:
  explicit Listener(TopmostBudgets& owner, TaskPoster post)
      : owner_(owner), post_(std::move(post)) {}

  // The owner may be gone, except in the task.
  void OnCommit() override {
    post_.Post([&owner = owner_] { owner.OnNewBudget(); });
  }

 private:
  TopmostBudgets& owner_;
  const TaskPoster post_;
};

std::set<std::string> TopmostBudgets::Of(const v1::ListBudgetsResponse& budgets) {
  std::set<std::string> listed;
  for (const v1::Budget& budget : budgets.budgets()) listed.insert(budget.name());
  std::set<std::string> topmost;
  for (const v1::Budget& budget : budgets.budgets()) {
    if (listed.count(budget.parent()) == 0) topmost.insert(budget.name());
  }
  return topmost;
}

TopmostBudgets::TopmostBudgets(RpcGateway& gateway, core::DurableLedger& ledger,
                               std::shared_ptr<TaskInbox> inbox, core::Tenant tenant,
                               HttpCaller caller, Found found)
    : gateway_(gateway),
      ledger_(ledger),
      tenant_(std::move(tenant)),
      caller_(std::move(caller)),
      found_(std::move(found)),
      tasks_(std::move(inbox)),
      listener_(std::make_shared<Listener>(*this, tasks_.poster())) {}

void TopmostBudgets::KeepHouse(SteadyTime now) {
  if (!is_due_ || now < not_before_) return;
  is_due_ = false;
  not_before_ = now + kListInterval;
  if (is_listening_) {
    List();  // the last one failed
  } else {
    Listen();
  }
}

void TopmostBudgets::OnNewBudget() {
  is_listening_ = false;
  is_due_ = true;
  KeepHouse(SteadyNow());
}

void TopmostBudgets::Listen() {
  ledger_.Read(tenant_, [this, post = tasks_.poster(), listener = std::weak_ptr(listener_)](
                            absl::StatusOr<core::LedgerReader*> reader) {
    // `this` may be gone, except in the task.
    if (reader.ok()) (*reader)->NotifyOfNextBudget(listener);
    post.Post([this, listens = reader.ok()] {
      is_listening_ = listens;
      is_due_ = !listens;
      if (listens) List();
    });
  });
}

void TopmostBudgets::List() {
  v1::ListBudgetsRequest request;
  request.set_page_size(kMaxListed);
  gateway_.Call(*RpcGateway::FindUnaryMethod("epsledger.v1.BudgetService.ListBudgets"), request,
                caller_, kListPatience,
                [this, post = tasks_.poster()](const grpc::Status& status,
                                               std::unique_ptr<google::protobuf::Message> answer) {
                  post.Post([this, is_listed = status.ok(), answer = std::move(answer)] {
                    if (!is_listed) {
                      is_due_ = true;
                      return;
                    }
                    found_(Of(static_cast<const v1::ListBudgetsResponse&>(*answer)));
                  });
                });
}

}  // namespace epsledger::transport
