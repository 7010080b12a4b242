#include "server/transport/http/change_broadcast.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "epsledger/v1/access_service.pb.h"
#include "google/protobuf/message.h"
#include "server/transport/http/change_event.h"
#include "server/transport/http/change_positions.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Message;

// How long events are gathered before they are sent: a twentieth of the promised second.
constexpr absl::Duration kGather = absl::Milliseconds(50);
// How often an idle stream sends something, so that proxies and clients see that it is alive.
constexpr absl::Duration kHeartbeat = absl::Seconds(15);
constexpr absl::Duration kHousekeeping = absl::Milliseconds(500);
// How often callers are looked up.
constexpr absl::Duration kLookUp = absl::Seconds(2);
constexpr absl::Duration kLookUpPatience = absl::Seconds(30);
// The wait after a watch ended for a temporary reason.
constexpr absl::Duration kReopenAfter = absl::Milliseconds(200);
// How long a resource that nobody watches is kept, for clients that reconnect.
constexpr absl::Duration kKeepUnwatched = absl::Seconds(30);
// The size of one chunk: a page of a client that catches up.
constexpr size_t kChunkBytes = size_t{256} << 10;
// The maximum number of open streams; each holds a connection, and there are not many more of
// these.
constexpr size_t kMaxStreams = 400;

bool IsNobodyAnyMore(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
}

}  // namespace

ChangeBroadcast::ChangeBroadcast(RpcGateway& gateway, core::DurableLedger& ledger)
    : gateway_(gateway), ledger_(ledger) {}

void ChangeBroadcast::Start() {
  thread_ = std::thread([this] { Run(); });
}

void ChangeBroadcast::Stop() {
  Post([](ChangeBroadcast& self) { self.stopped_ = true; });
  thread_.join();
}

// The inbox is closed before this is destroyed.
void ChangeBroadcast::Post(Task task) {
  inbox_->Post([this, run = std::move(task)]() mutable { std::move(run)(*this); });
}

std::optional<uint64_t> ChangeBroadcast::Add(ChangeClient client) {
  if (clients_.size() >= kMaxStreams) return std::nullopt;
  const uint64_t number = ++last_client_;
  for (const auto& [resource, following] : client.following) Follow(resource, following, client);
  if (client.follows_all) {
    client.all = std::make_unique<TopmostBudgets>(
        gateway_, ledger_, inbox_, client.tenant, client.caller,
        [this, number](const std::set<std::string>& budgets) { FollowNew(number, budgets); });
    client.all->KeepHouse(SteadyNow());
  }
  clients_.emplace(number, std::move(client));
  return number;
}

void ChangeBroadcast::Ask(uint64_t number, ChunkSource::Give give) {
  const auto client = clients_.find(number);
  if (client == clients_.end()) return std::move(give)(std::nullopt);
  client->second.waiting = std::move(give);
  is_dirty_ = true;
}

std::string ChangeBroadcast::KeyOf(const std::string& audience, const std::string& resource) {
  return absl::StrCat(audience, "\n", resource);
}

bool ChangeBroadcast::KeyIsOf(const std::string& key, const ChangeClient& client) {
  const size_t newline = key.find('\n');
  return client.audience == absl::string_view(key).substr(0, newline) &&
         client.following.count(key.substr(newline + 1)) > 0;
}

void ChangeBroadcast::Run() {
  SteadyTime last_flush = -absl::InfiniteDuration();
  SteadyTime last_housekeeping = SteadyNow();
  while (!stopped_) {
    std::vector<TaskInbox::Task> tasks =
        inbox_->Take(std::min(last_housekeeping + kHousekeeping,
                              is_dirty_ ? last_flush + kGather : absl::InfiniteDuration()));
    for (TaskInbox::Task& task : tasks) std::move(task)();
    const SteadyTime now = SteadyNow();
    if (now - last_housekeeping >= kHousekeeping) {
      last_housekeeping = now;
      KeepHouse(now);
    }
    if (is_dirty_ && now - last_flush >= kGather) {
      last_flush = now;
      is_dirty_ = false;
      for (auto& [number, client] : clients_) Tell(number, client, now);
    }
  }
  inbox_->Close();
  clients_.clear();
  channels_.clear();
}

void ChangeBroadcast::Follow(const std::string& resource, const Following& following,
                             const ChangeClient& client) {
  const std::string key = KeyOf(client.audience, resource);
  const auto [channel, is_new] = channels_.try_emplace(key, following.told);
  channel->second.unwatched_since = absl::InfiniteDuration();
  if (is_new) OpenWatch(key, channel->second, client.caller);
}

void ChangeBroadcast::FollowNew(uint64_t number, const std::set<std::string>& budgets) {
  ChangeClient& client = clients_.at(number);
  for (const std::string& budget : budgets) {
    if (client.following.size() >= kMaxWatchedResources) return;
    const auto [added, is_new] = client.following.try_emplace(budget);
    // From its first entry, since it was created after this client came.
    if (is_new) Follow(added->first, added->second, client);
  }
}

std::unique_ptr<ChangeReader> ChangeBroadcast::NewReader(const std::string& resource, int64_t after,
                                                         const HttpCaller& caller) {
  return std::make_unique<ChangeReader>(gateway_, inbox_, resource, after, caller);
}

void ChangeBroadcast::OpenWatch(const std::string& key, Channel& channel,
                                const HttpCaller& caller) {
  channel.watch = NewReader(ResourceOf(key), channel.window.high(), caller);
  ReadWatch(key, channel);
}

void ChangeBroadcast::ReadWatch(const std::string& key, Channel& channel) {
  channel.watch->Read([this, key, &channel](std::optional<ChangeEvent> event) {
    if (!event.has_value()) return OnWatchEnd(key, channel);
    channel.window.Add(*std::move(event));
    is_dirty_ = true;
    ReadWatch(key, channel);
  });
}

void ChangeBroadcast::OnWatchEnd(const std::string& key, Channel& channel) {
  const grpc::Status status = channel.watch->status();
  // If its caller may not watch any more, another client's will: theirs ends at their next look-up.
  channel.watch = nullptr;
  channel.open_time = SteadyNow() + kReopenAfter;
  switch (status.error_code()) {
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::DATA_LOSS:
      for (auto& [number, client] : clients_) {
        if (KeyIsOf(key, client)) End(client, status);
      }
      channels_.erase(key);
      return;
    default:
      return;
  }
}

void ChangeBroadcast::End(ChangeClient& client, const grpc::Status& status) {
  if (!client.end.has_value()) client.end = status;
  is_dirty_ = true;
}

void ChangeBroadcast::Tell(uint64_t number, ChangeClient& client, SteadyTime now) {
  if (!client.waiting.has_value()) return;
  std::optional<std::string> chunk = TakeEvents(number, client);
  if (chunk->empty()) {
    if (client.end.has_value()) {
      chunk = EndEvent(*client.end);
      client.following.clear();
      client.all = nullptr;
      client.end.reset();
      client.has_ended = true;
    } else if (client.has_ended) {
      chunk = std::nullopt;
    } else if (now - client.last_told >= kHeartbeat) {
      chunk = kAliveComment;
    } else {
      return;
    }
  }
  client.last_told = now;
  ChunkSource::Give give = *std::exchange(client.waiting, std::nullopt);
  std::move(give)(std::move(chunk));
}

std::string ChangeBroadcast::TakeEvents(uint64_t number, ChangeClient& client) {
  std::string chunk;
  ChangePositions positions = client.Positions();
  for (auto& [resource, following] : client.following) {
    const auto channel = channels_.find(KeyOf(client.audience, resource));
    if (channel == channels_.end()) continue;
    const ChangeWindow& window = channel->second.window;
    const auto take = [&, &position = positions[resource],
                       &told = following.told](const ChangeEvent& event) {
      position = told = event.sequence;
      chunk += WithId(positions, event);
    };
    while (!following.page.empty() && chunk.size() < kChunkBytes) {
      take(following.page.front());
      following.page.pop_front();
    }
    if (!following.page.empty()) break;
    if (following.told < window.low()) {
      CatchUp(number, resource, following, client);
      continue;
    }
    following.catch_up = nullptr;
    following.is_reading = false;
    for (auto next = window.After(following.told);
         next != window.end() && chunk.size() < kChunkBytes; ++next) {
      take(*next);
    }
  }
  return chunk;
}

void ChangeBroadcast::CatchUp(uint64_t number, const std::string& resource, Following& following,
                              const ChangeClient& client) {
  if (following.is_reading) return;
  if (following.catch_up == nullptr) {
    following.catch_up = NewReader(resource, following.told, client.caller);
  }
  following.is_reading = true;
  following.catch_up->Read([this, number, resource](std::optional<ChangeEvent> event) {
    OnCaughtUp(number, resource, std::move(event));
  });
}

void ChangeBroadcast::OnCaughtUp(uint64_t number, const std::string& resource,
                                 std::optional<ChangeEvent> event) {
  // Both are there as long as the reader is.
  ChangeClient& client = clients_.at(number);
  Following& following = client.following.at(resource);
  following.is_reading = false;
  if (!event.has_value()) {
    // Open it again where it ended, unless it can never continue.
    const grpc::Status status = following.catch_up->status();
    following.catch_up = nullptr;
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE && !status.ok()) {
      return End(client, status);
    }
    has_broken_off_ = true;
    return;
  }
  const int64_t sequence = event->sequence;
  following.page.push_back(*std::move(event));
  is_dirty_ = true;
  size_t bytes = 0;
  for (const ChangeEvent& one : following.page) bytes += one.text->size();
  const auto channel = channels_.find(KeyOf(client.audience, resource));
  const bool has_arrived = channel != channels_.end() && sequence >= channel->second.window.low();
  if (bytes < kChunkBytes && !has_arrived) {
    CatchUp(number, resource, following, client);
  } else {
    Tell(number, client, SteadyNow());  // a client that is behind need not wait for more
  }
}

void ChangeBroadcast::KeepHouse(SteadyTime now) {
  if (std::exchange(has_broken_off_, false)) is_dirty_ = true;
  for (auto& [number, client] : clients_) {
    if (client.waiting.has_value() && now - client.last_told >= kHeartbeat) is_dirty_ = true;
    if (client.all != nullptr) client.all->KeepHouse(now);
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
  const ChangeClient* watcher = nullptr;
  for (const auto& [number, client] : clients_) {
    if (!client.end.has_value() && KeyIsOf(key, client)) watcher = &client;
  }
  if (watcher == nullptr) {
    channel.unwatched_since = std::min(channel.unwatched_since, now);
    return;
  }
  channel.unwatched_since = absl::InfiniteDuration();
  if (channel.watch == nullptr && now >= channel.open_time) {
    OpenWatch(key, channel, watcher->caller);
  }
}

void ChangeBroadcast::LookUp(uint64_t number, const ChangeClient& client) {
  gateway_.Call(
      *RpcGateway::FindUnaryMethod("epsledger.v1.AccessService.GetCaller"), v1::GetCallerRequest(),
      client.caller, kLookUpPatience,
      [inbox = inbox_, this, number](const grpc::Status& status, std::unique_ptr<Message>) {
        if (!IsNobodyAnyMore(status)) return;
        inbox->Post([this, number, status] {
          const auto found = clients_.find(number);
          if (found != clients_.end()) End(found->second, status);
        });
      });
}

}  // namespace epsledger::transport
