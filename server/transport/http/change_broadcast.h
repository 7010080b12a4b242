#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_BROADCAST_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_BROADCAST_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "epsledger/v1/budget_service.pb.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// The maximum number of resources that one client watches: their names are in every id.
inline constexpr size_t kMaxWatchedResources = 64;
inline constexpr absl::Duration kEventRpcPatience = absl::Seconds(30);

// Sends the changes of ledgers to clients, as server-sent events.
//
// 1. A client receives every change after its positions, in order of sequence and once each, and
//    then new changes as they happen. Reconnecting with the last received id leaves no gap and
//    repeats nothing.
// 2. However many clients watch a resource, the ledger is read and JSON is made once: clients share
//    a window of changes. A client that is behind the window catches up with its own watch.
// 3. A client holds at most one chunk and one page. The HttpServer drops a client that takes
//    nothing.
// 4. The caller is looked up again every few seconds: revoking a token ends its streams.
//
// Events are sent in batches, 20 times a second at most. All work is done on one separate thread.
class ChangeBroadcast : public std::enable_shared_from_this<ChangeBroadcast> {
 public:
  struct Event {
    int64_t sequence = 0;
    std::shared_ptr<const std::string> text;
  };

  // The state of one client for one resource.
  struct Following {
    int64_t told = 0;
    // Set while the client is behind the window.
    std::unique_ptr<RpcGateway::Stream> catch_up;
    uint64_t catch_up_number = 0;  // answers to earlier ones are ignored
    bool reading = false;
    std::deque<Event> page;
  };

  struct Client {
    HttpCaller caller;
    // The tenant and, for a caller with grants, also the caller: clients of one audience see the
    // same changes.
    std::string audience;
    bool all_roots = false;
    std::map<std::string, Following> following;
    std::optional<ChunkSource::Give> waiting;
    SteadyTime last_told = -absl::InfiniteDuration();
    std::optional<grpc::Status> end;
  };

  using Task = absl::AnyInvocable<void(ChangeBroadcast&) &&>;

  explicit ChangeBroadcast(RpcGateway& gateway) : gateway_(gateway) {}

  // Returns the budgets whose parent is not listed: the roots, or the granted budgets of a caller.
  static std::set<std::string> TopmostOf(const v1::ListBudgetsResponse& budgets);

  void Start();

  void Stop();

  void Post(Task task) ABSL_LOCKS_EXCLUDED(mutex_);

  RpcGateway& gateway() { return gateway_; }

  // Adds the client and returns its number, or nullopt if there are too many.
  std::optional<uint64_t> Add(Client client);
  void Remove(uint64_t number) { clients_.erase(number); }
  void Ask(uint64_t number, ChunkSource::Give give);

 private:
  // A resource that is watched once for all clients who are up to date.
  struct Channel {
    HttpCaller caller;  // the owner of the watch
    std::unique_ptr<RpcGateway::Stream> watch;
    uint64_t watch_number = 0;                         // answers to earlier watches are late
    SteadyTime open_time = -absl::InfiniteDuration();  // not before
    SteadyTime unwatched_since = absl::InfiniteDuration();
    // Everything after `low` and up to `high` is in the window.
    int64_t low = 0;
    int64_t high = 0;
    std::deque<Event> window;
    size_t window_bytes = 0;
  };

  // The key of what clients of one audience share. Names contain no newline.
  static std::string KeyOf(const std::string& audience, const std::string& resource);

  void Run();

  void Follow(const std::string& resource, Following& following, const Client& client);

  std::unique_ptr<RpcGateway::Stream> Open(const std::string& resource, int64_t after,
                                           const HttpCaller& caller);

  static std::string ResourceOf(const std::string& key) { return key.substr(key.find('\n') + 1); }

  void OpenWatch(const std::string& key, Channel& channel);

  void ReadWatch(const std::string& key, Channel& channel);

  void OnChange(const std::string& key, uint64_t number,
                std::unique_ptr<google::protobuf::Message> message);

  void OnWatchEnd(const std::string& key, Channel& channel);

  static bool KeyIsOf(const std::string& key, const Client& client);

  void End(Client& client, const grpc::Status& status);

  // Gives the client its events, if it waits.
  void Tell(uint64_t number, Client& client, SteadyTime now);

  // Reads the client's own watch, event by event, until the client is in the window.
  void CatchUp(uint64_t number, const std::string& resource, Following& following,
               const Client& client);

  void OnCaughtUp(uint64_t number, const std::string& resource, uint64_t turn,
                  std::unique_ptr<google::protobuf::Message> message);

  void KeepHouse(SteadyTime now);

  void KeepChannel(const std::string& key, Channel& channel, SteadyTime now);

  void LookUp(uint64_t number, const Client& client);

  void FollowNewRoots(uint64_t number, const v1::ListBudgetsResponse& budgets);

  RpcGateway& gateway_;
  std::thread thread_;

  // Only the thread of this object uses these.
  bool stopped_ = false;
  bool dirty_ = false;
  uint64_t last_client_ = 0;
  std::map<uint64_t, Client> clients_;
  std::set<uint64_t> ended_;  // got their end event, and nothing more
  std::map<std::string, Channel> channels_;
  SteadyTime last_look_up_ = SteadyNow();

  absl::Mutex mutex_;
  std::vector<Task> inbox_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_BROADCAST_H_
