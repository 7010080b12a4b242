#include "server/transport/http/change_routes.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/transport/http/change_client.h"
#include "server/transport/http/change_event.h"
#include "server/transport/http/change_positions.h"
#include "server/transport/http/http_caller.h"
#include "server/transport/http/json_answer.h"
#include "server/transport/http/topmost_budgets.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Message;

// The patience of a call that a new client needs.
constexpr absl::Duration kOpeningPatience = absl::Seconds(30);

// The stream of one client, from which the HttpServer pulls.
class ClientStream final : public ChunkSource {
 public:
  ClientStream(std::weak_ptr<ChangeBroadcast> work, uint64_t number)
      : work_(std::move(work)), number_(number) {}
  ~ClientStream() override {
    if (auto work = work_.lock()) {
      work->Post([number = number_](ChangeBroadcast& self) { self.Remove(number); });
    }
  }

  void Next(Give give) override {
    if (!std::exchange(begun_, true)) return std::move(give)(kRetryField);
    auto work = work_.lock();
    if (work == nullptr) return std::move(give)(std::nullopt);
    work->Post([number = number_, give = std::move(give)](ChangeBroadcast& self) mutable {
      self.Ask(number, std::move(give));
    });
  }

 private:
  const std::weak_ptr<ChangeBroadcast> work_;
  const uint64_t number_;
  bool begun_ = false;
};

// A new client: finds out who it is, what it watches and from where, one call after another.
class Opening : public std::enable_shared_from_this<Opening> {
 public:
  Opening(std::weak_ptr<ChangeBroadcast> work, RpcGateway& gateway, HttpCaller caller,
          HttpReply reply)
      : work_(std::move(work)), gateway_(gateway), reply_(std::move(reply)) {
    client_.caller = std::move(caller);
  }

  std::set<std::string> resources;
  ChangePositions positions;
  std::optional<int64_t> after;

  void Start() {
    Call<v1::Caller>("epsledger.v1.AccessService.GetCaller", v1::GetCallerRequest(),
                     [](Opening& self, const v1::Caller& caller) {
                       self.client_.Identify(caller);
                       if (!self.resources.empty()) return self.FindNextPosition();
                       self.client_.follows_all = true;
                       self.ListTopmost();
                     });
  }

 private:
  template <class Answer, class Then>
  void Call(const std::string& method, const Message& request, Then then) {
    gateway_.Call(*RpcGateway::FindUnaryMethod(method), request, client_.caller, kOpeningPatience,
                  [self = this->shared_from_this(), then = std::move(then)](
                      const grpc::Status& status, std::unique_ptr<Message> answer) mutable {
                    if (!status.ok()) return std::move(self->reply_)(ErrorAnswer(status));
                    then(*self, static_cast<const Answer&>(*answer));
                  });
  }

  void ListTopmost() {
    v1::ListBudgetsRequest request;
    request.set_page_size(1000);
    Call<v1::ListBudgetsResponse>(
        "epsledger.v1.BudgetService.ListBudgets", request,
        [](Opening& self, const v1::ListBudgetsResponse& answer) {
          self.resources = TopmostBudgets::Of(answer);
          // A client that comes back followed everything: what it does not know is new.
          if (!self.positions.empty() && !self.after.has_value()) self.after = 0;
          if (self.resources.size() > kMaxWatchedResources || !answer.next_page_token().empty()) {
            return std::move(self.reply_)(
                HttpError(400, "invalid_argument",
                          absl::StrCat("there are more than ", kMaxWatchedResources,
                                       " root budgets: name those to watch, ?budget=...")));
          }
          self.FindNextPosition();
        });
  }

  void FindNextPosition() {
    for (const std::string& resource : resources) {
      if (positions.count(resource) > 0) continue;
      if (after.has_value()) {
        positions[resource] = *after;
        continue;
      }
      v1::GetLedgerHeadRequest request;
      request.set_budget(resource.substr(0, resource.find("/sessions/")));
      return Call<v1::LedgerHead>("epsledger.v1.AuditService.GetLedgerHead", request,
                                  [resource](Opening& self, const v1::LedgerHead& head) {
                                    self.positions[resource] = head.sequence();
                                    self.FindNextPosition();
                                  });
    }
    Enter();
  }

  void Enter() {
    for (const std::string& resource : resources) {
      client_.following[resource].told = positions[resource];
    }
    auto work = work_.lock();
    if (work == nullptr) return;
    work->Post([self = this->shared_from_this()](ChangeBroadcast& w) {
      const std::optional<uint64_t> number = w.Add(std::move(self->client_));
      if (!number.has_value()) {
        HttpResponse response =
            HttpError(503, "unavailable", "too many streams of events are open");
        response.headers.emplace_back("retry-after", "5");
        return std::move(self->reply_)(std::move(response));
      }
      HttpResponse response;
      response.content_type = "text/event-stream";
      // Proxies that buffer answers would delay events.
      response.headers.emplace_back("x-accel-buffering", "no");
      response.chunks = std::make_shared<ClientStream>(self->work_, *number);
      std::move(self->reply_)(std::move(response));
    });
  }

  const std::weak_ptr<ChangeBroadcast> work_;
  RpcGateway& gateway_;
  HttpReply reply_;
  ChangeClient client_;
};

// "adult", "budgets/adult" or "budgets/adult/sessions/first", the forms that the parameters accept.
std::string ResourceName(const std::string& value) {
  return absl::StartsWith(value, "budgets/") ? value : absl::StrCat("budgets/", value);
}

}  // namespace

ChangeRoutes::ChangeRoutes(RpcGateway& gateway, core::DurableLedger& ledger)
    : broadcast_(std::make_shared<ChangeBroadcast>(gateway, ledger)) {
  broadcast_->Start();
}

ChangeRoutes::~ChangeRoutes() { broadcast_->Stop(); }

void ChangeRoutes::Answer(const HttpRequest& request, HttpReply reply) {
  const auto refuse = [&reply](std::string_view message) {
    std::move(reply)(HttpError(400, "invalid_argument", message));
  };
  if (request.method != "GET") {
    return std::move(reply)(HttpError(405, "unimplemented", "only GET is answered here"));
  }
  const auto parameters = QueryParameters(request.query);
  if (!parameters.has_value()) return refuse("the query is not one");
  const absl::StatusOr<HttpCaller> caller = CallerOf(request);
  if (!caller.ok()) {
    return std::move(reply)(
        HttpError(403, "permission_denied", std::string(caller.status().message())));
  }
  std::string last_id(request.Header("last-event-id"));
  std::set<std::string> resources;
  std::optional<int64_t> after;
  for (const auto& [name, value] : *parameters) {
    int64_t number = 0;
    if (name == "budget" || name == "session") {
      resources.insert(ResourceName(value));
    } else if (name == "lastEventId") {
      // A client that opens a new stream sends this. The header of a browser's own reconnection is
      // newer.
      if (last_id.empty()) last_id = value;
    } else if (name == "after" && absl::SimpleAtoi(value, &number) && number >= 0) {
      after = number;
    } else {
      return refuse(absl::StrCat("query: ", name.substr(0, 64),
                                 ": is not known here or not well said; known: budget, session, "
                                 "after (an integer >= 0), lastEventId"));
    }
  }
  if (resources.size() > kMaxWatchedResources)
    return refuse("query: too many budgets and sessions");
  absl::StatusOr<ChangePositions> positions = ReadEventId(last_id);
  if (!positions.ok()) return refuse(std::string(positions.status().message()));
  auto opening =
      std::make_shared<Opening>(broadcast_, broadcast_->gateway(), *caller, std::move(reply));
  opening->resources = std::move(resources);
  opening->positions = *std::move(positions);
  opening->after = after;
  opening->Start();
}

}  // namespace epsledger::transport
