#include "server/transport/http/change_broadcast.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/change.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "server/transport/http/change_positions.h"
#include "server/transport/http/json_answer.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// How long events are gathered before they are sent: a twentieth of the promised second.
constexpr absl::Duration kGather = absl::Milliseconds(50);
// How often an idle stream sends something, so that proxies and clients see that it is alive.
constexpr absl::Duration kHeartbeat = absl::Seconds(15);
constexpr absl::Duration kHousekeeping = absl::Milliseconds(500);
// How often callers and new root budgets are looked up.
constexpr absl::Duration kLookUp = absl::Seconds(2);
// The wait after a watch ended for a temporary reason.
constexpr absl::Duration kReopenAfter = absl::Milliseconds(200);
// How long a resource that nobody watches is kept, for clients that reconnect.
constexpr absl::Duration kKeepUnwatched = absl::Seconds(30);
// The window of one resource: enough for a client that takes a second to reconnect.
constexpr size_t kWindowEvents = 4096;
constexpr size_t kWindowBytes = size_t{4} << 20;
// The size of one chunk: a page of a client that catches up.
constexpr size_t kChunkBytes = size_t{256} << 10;
// The maximum number of open streams; each holds a connection, and there are not many more of
// these.
constexpr size_t kMaxStreams = 400;

constexpr char kWatchBudget[] = "epsledger.v1.BudgetService.WatchBudget";
constexpr char kWatchSession[] = "epsledger.v1.SessionService.WatchSession";

const MethodDescriptor& Method(const std::string& full_name) {
  return *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(full_name);
}

bool IsSession(const std::string& resource) { return absl::StrContains(resource, "/sessions/"); }

// "charge", "bookmark", ...
std::string KindOf(const v1::LedgerChange& change) {
  const google::protobuf::OneofDescriptor* oneof =
      v1::LedgerChange::descriptor()->FindOneofByName("change");
  const google::protobuf::FieldDescriptor* set =
      change.GetReflection()->GetOneofFieldDescriptor(change, oneof);
  return set == nullptr ? "bookmark" : set->json_name();
}

// Returns the text of a change without the id, which contains the positions of one client.
std::string EventText(const std::string& resource, const v1::LedgerChange& change) {
  const std::string kind = KindOf(change);
  if (kind == "bookmark") return "event: bookmark\ndata: {}\n\n";
  std::string json = ToJson(change);
  nlohmann::ordered_json name = resource;
  return absl::StrCat("event: ", kind, "\ndata: {\"watched\":", name.dump(), ",",
                      absl::string_view(json).substr(1), "\n\n");
}

}  // namespace

std::set<std::string> ChangeBroadcast::TopmostOf(const v1::ListBudgetsResponse& budgets) {
  std::set<std::string> listed;
  for (const v1::Budget& budget : budgets.budgets()) listed.insert(budget.name());
  std::set<std::string> topmost;
  for (const v1::Budget& budget : budgets.budgets()) {
    if (listed.count(budget.parent()) == 0) topmost.insert(budget.name());
  }
  return topmost;
}

void ChangeBroadcast::Start() {
  thread_ = std::thread([this] { Run(); });
}

void ChangeBroadcast::Stop() {
  Post([](ChangeBroadcast& work) { work.stopped_ = true; });
  thread_.join();
}

void ChangeBroadcast::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  inbox_.push_back(std::move(task));
}

std::optional<uint64_t> ChangeBroadcast::Add(Client client) {
  if (clients_.size() >= kMaxStreams) return std::nullopt;
  const uint64_t number = ++last_client_;
  for (auto& [resource, following] : client.following) Follow(resource, following, client);
  clients_.emplace(number, std::move(client));
  return number;
}

void ChangeBroadcast::Ask(uint64_t number, ChunkSource::Give give) {
  const auto client = clients_.find(number);
  if (client == clients_.end()) return std::move(give)(std::nullopt);
  client->second.waiting = std::move(give);
  dirty_ = true;
}

std::string ChangeBroadcast::KeyOf(const std::string& audience, const std::string& resource) {
  return absl::StrCat(audience, "\n", resource);
}

void ChangeBroadcast::Run() {
  SteadyTime last_flush = -absl::InfiniteDuration();
  SteadyTime last_housekeeping = SteadyNow();
  while (!stopped_) {
    const SteadyTime now = SteadyNow();
    const SteadyTime due = std::min(last_housekeeping + kHousekeeping,
                                    dirty_ ? last_flush + kGather : absl::InfiniteDuration());
    std::vector<Task> tasks;
    {
      absl::MutexLock lock(&mutex_);
      if (inbox_.empty() && due > now) {
        mutex_.AwaitWithTimeout(
            absl::Condition(
                +[](std::vector<Task>* inbox) { return !inbox->empty(); }, &inbox_),
            due - now);
      }
      tasks.swap(inbox_);
    }
    for (Task& task : tasks) std::move(task)(*this);
    const SteadyTime then = SteadyNow();
    if (then - last_housekeeping >= kHousekeeping) {
      last_housekeeping = then;
      KeepHouse(then);
    }
    if (dirty_ && then - last_flush >= kGather) {
      last_flush = then;
      dirty_ = false;
      for (auto& [number, client] : clients_) Tell(number, client, then);
    }
  }
  clients_.clear();
  channels_.clear();
  absl::MutexLock lock(&mutex_);
  inbox_.clear();
}

void ChangeBroadcast::Follow(const std::string& resource, Following& following,
                             const Client& client) {
  Channel& channel = channels_[KeyOf(client.audience, resource)];
  channel.unwatched_since = absl::InfiniteDuration();
  if (channel.watch != nullptr || channel.watch_number > 0) return;
  channel.caller = client.caller;
  channel.low = channel.high = following.told;
  OpenWatch(KeyOf(client.audience, resource), channel);
}

std::unique_ptr<RpcGateway::Stream> ChangeBroadcast::Open(const std::string& resource,
                                                          int64_t after, const HttpCaller& caller) {
  if (IsSession(resource)) {
    v1::WatchSessionRequest request;
    request.set_name(resource);
    request.set_after_sequence(after);
    return gateway_.Open(Method(kWatchSession), request, caller);
  }
  v1::WatchBudgetRequest request;
  request.set_name(resource);
  request.set_after_sequence(after);
  return gateway_.Open(Method(kWatchBudget), request, caller);
}

void ChangeBroadcast::OpenWatch(const std::string& key, Channel& channel) {
  channel.watch = Open(ResourceOf(key), channel.high, channel.caller);
  ++channel.watch_number;
  ReadWatch(key, channel);
}

void ChangeBroadcast::ReadWatch(const std::string& key, Channel& channel) {
  channel.watch->Read([weak = weak_from_this(), key,
                       number = channel.watch_number](std::unique_ptr<Message> message) {
    if (auto work = weak.lock()) {
      work->Post([key, number, message = std::move(message)](ChangeBroadcast& self) mutable {
        self.OnChange(key, number, std::move(message));
      });
    }
  });
}

void ChangeBroadcast::OnChange(const std::string& key, uint64_t number,
                               std::unique_ptr<Message> message) {
  const auto found = channels_.find(key);
  if (found == channels_.end() || found->second.watch_number != number ||
      found->second.watch == nullptr) {
    return;
  }
  Channel& channel = found->second;
  if (message == nullptr) return OnWatchEnd(key, channel);
  const auto& change = static_cast<const v1::LedgerChange&>(*message);
  Event event{change.sequence(),
              std::make_shared<const std::string>(EventText(ResourceOf(key), change))};
  channel.window_bytes += event.text->size();
  channel.high = change.sequence();
  channel.window.push_back(std::move(event));
  while (channel.window.size() > kWindowEvents ||
         (channel.window_bytes > kWindowBytes && channel.window.size() > 1)) {
    channel.low = channel.window.front().sequence;
    channel.window_bytes -= channel.window.front().text->size();
    channel.window.pop_front();
  }
  dirty_ = true;
  ReadWatch(key, channel);
}

void ChangeBroadcast::OnWatchEnd(const std::string& key, Channel& channel) {
  const grpc::Status status = channel.watch->status();
  channel.watch = nullptr;
  switch (status.error_code()) {
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      // The owner of the watch may not watch any more. Their stream ends at their next look-up, and
      // the channel takes the credentials of another client.
      channel.caller = {};
      break;
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::DATA_LOSS:
      for (auto& [number, client] : clients_) {
        if (KeyIsOf(key, client)) End(client, status);
      }
      channels_.erase(key);
      return;
    default:
      break;
  }
  channel.open_time = SteadyNow() + kReopenAfter;
}

bool ChangeBroadcast::KeyIsOf(const std::string& key, const Client& client) {
  const size_t newline = key.find('\n');
  return client.audience == absl::string_view(key).substr(0, newline) &&
         client.following.count(key.substr(newline + 1)) > 0;
}

void ChangeBroadcast::End(Client& client, const grpc::Status& status) {
  if (!client.end.has_value()) client.end = status;
  dirty_ = true;
}

void ChangeBroadcast::Tell(uint64_t number, Client& client, SteadyTime now) {
  if (!client.waiting.has_value()) return;
  std::string chunk;
  ChangePositions positions;
  for (const auto& [resource, following] : client.following) {
    positions[resource] = following.told;
  }
  for (auto& [resource, following] : client.following) {
    const auto found = channels_.find(KeyOf(client.audience, resource));
    if (found == channels_.end()) continue;
    Channel& channel = found->second;
    const auto tell = [&, &name = resource, &position = following.told](const Event& event) {
      positions[name] = position = event.sequence;
      absl::StrAppend(&chunk, "id: ", ToEventId(positions), "\n", *event.text);
    };
    while (!following.page.empty() && chunk.size() < kChunkBytes) {
      tell(following.page.front());
      following.page.pop_front();
    }
    if (!following.page.empty()) break;
    if (following.told < channel.low) {
      CatchUp(number, resource, following, client);
      continue;
    }
    following.catch_up = nullptr;
    following.reading = false;
    auto next =
        std::upper_bound(channel.window.begin(), channel.window.end(), following.told,
                         [](int64_t told, const Event& event) { return told < event.sequence; });
    for (; next != channel.window.end() && chunk.size() < kChunkBytes; ++next) tell(*next);
  }
  if (chunk.empty() && client.end.has_value()) {
    chunk = absl::StrCat("event: end\ndata: ", ErrorAnswer(*client.end).body, "\n\n");
    client.following.clear();
    client.end.reset();
    ended_.insert(number);
  } else if (chunk.empty() && ended_.count(number) > 0) {
    ChunkSource::Give give = *std::exchange(client.waiting, std::nullopt);
    std::move(give)(std::nullopt);
    ended_.erase(number);
    return;
  }
  if (chunk.empty()) {
    if (now - client.last_told < kHeartbeat) return;
    chunk = ": alive\n\n";
  }
  client.last_told = now;
  ChunkSource::Give give = *std::exchange(client.waiting, std::nullopt);
  std::move(give)(std::move(chunk));
}

void ChangeBroadcast::CatchUp(uint64_t number, const std::string& resource, Following& following,
                              const Client& client) {
  if (following.reading) return;
  if (following.catch_up == nullptr) {
    following.catch_up = Open(resource, following.told, client.caller);
    ++following.catch_up_number;
  }
  following.reading = true;
  following.catch_up->Read([weak = weak_from_this(), number, resource,
                            turn = following.catch_up_number](std::unique_ptr<Message> message) {
    if (auto work = weak.lock()) {
      work->Post(
          [number, resource, turn, message = std::move(message)](ChangeBroadcast& self) mutable {
            self.OnCaughtUp(number, resource, turn, std::move(message));
          });
    }
  });
}

void ChangeBroadcast::OnCaughtUp(uint64_t number, const std::string& resource, uint64_t turn,
                                 std::unique_ptr<Message> message) {
  const auto client = clients_.find(number);
  if (client == clients_.end()) return;
  const auto found = client->second.following.find(resource);
  if (found == client->second.following.end() || found->second.catch_up == nullptr ||
      found->second.catch_up_number != turn) {
    return;
  }
  Following& following = found->second;
  following.reading = false;
  if (message == nullptr) {
    // Open it again where it ended, unless it can never continue.
    const grpc::Status status = following.catch_up->status();
    following.catch_up = nullptr;
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE && !status.ok()) {
      End(client->second, status);
    }
    return;
  }
  const auto& change = static_cast<const v1::LedgerChange&>(*message);
  following.page.push_back(
      {change.sequence(), std::make_shared<const std::string>(EventText(resource, change))});
  dirty_ = true;
  size_t bytes = 0;
  for (const Event& event : following.page) bytes += event.text->size();
  const auto channel = channels_.find(KeyOf(client->second.audience, resource));
  const bool arrived = channel != channels_.end() && change.sequence() >= channel->second.low;
  if (bytes < kChunkBytes && !arrived) {
    CatchUp(number, resource, following, client->second);
  } else {
    Tell(number, client->second, SteadyNow());  // a client that is behind need not wait for more
  }
}

void ChangeBroadcast::KeepHouse(SteadyTime now) {
  for (auto& [number, client] : clients_) {
    if (client.waiting.has_value() && now - client.last_told >= kHeartbeat) dirty_ = true;
  }
  for (auto channel = channels_.begin(); channel != channels_.end();) {
    KeepChannel(channel->first, channel->second, now);
    const bool forgotten = now - channel->second.unwatched_since >= kKeepUnwatched;
    channel = forgotten ? channels_.erase(channel) : std::next(channel);
  }
  if (now - last_look_up_ < kLookUp) return;
  last_look_up_ = now;
  for (const auto& [number, client] : clients_) LookUp(number, client);
}

void ChangeBroadcast::KeepChannel(const std::string& key, Channel& channel, SteadyTime now) {
  const Client* watcher = nullptr;
  for (const auto& [number, client] : clients_) {
    if (!client.end.has_value() && KeyIsOf(key, client)) watcher = &client;
  }
  if (watcher == nullptr) {
    channel.unwatched_since = std::min(channel.unwatched_since, now);
    return;
  }
  channel.unwatched_since = absl::InfiniteDuration();
  if (channel.watch == nullptr && now >= channel.open_time) {
    channel.caller = watcher->caller;
    OpenWatch(key, channel);
  }
}

void ChangeBroadcast::LookUp(uint64_t number, const Client& client) {
  gateway_.Call(
      Method("epsledger.v1.AccessService.GetCaller"), v1::GetCallerRequest(), client.caller,
      kEventRpcPatience,
      [weak = weak_from_this(), number](const grpc::Status& status, std::unique_ptr<Message>) {
        const auto work = weak.lock();
        const bool out = status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
                         status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
        if (work == nullptr || !out) return;
        work->Post([number, status](ChangeBroadcast& self) {
          const auto found = self.clients_.find(number);
          if (found != self.clients_.end()) self.End(found->second, status);
        });
      });
  if (!client.all_roots) return;
  v1::ListBudgetsRequest request;
  request.set_page_size(1000);
  gateway_.Call(
      Method("epsledger.v1.BudgetService.ListBudgets"), request, client.caller, kEventRpcPatience,
      [weak = weak_from_this(), number](const grpc::Status& status,
                                        std::unique_ptr<Message> answer) {
        const auto work = weak.lock();
        if (work == nullptr || !status.ok()) return;
        work->Post([number, answer = std::move(answer)](ChangeBroadcast& self) {
          self.FollowNewRoots(number, static_cast<const v1::ListBudgetsResponse&>(*answer));
        });
      });
}

void ChangeBroadcast::FollowNewRoots(uint64_t number, const v1::ListBudgetsResponse& budgets) {
  const auto client = clients_.find(number);
  if (client == clients_.end()) return;
  for (const std::string& top : TopmostOf(budgets)) {
    std::map<std::string, Following>& following = client->second.following;
    if (following.size() >= kMaxWatchedResources) return;
    const auto [added, is_new] = following.try_emplace(top);
    // From its first entry, since it was created after this client came.
    if (is_new) Follow(added->first, added->second, client->second);
  }
}

}  // namespace epsledger::transport
