#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_BROADCAST_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_BROADCAST_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/http/change_client.h"
#include "server/transport/http/change_reader.h"
#include "server/transport/http/change_window.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"
#include "server/transport/http/task_inbox.h"

namespace epsledger::transport {

// Sends the changes of ledgers to clients, as server-sent events.
//
// 1. A client receives every change after its positions, in order of sequence and once each, and
//    then new changes as they happen. Reconnecting with the last received id leaves no gap and
//    repeats nothing.
// 2. However many clients watch a resource, the ledger is read and JSON is made once: clients share
//    a ChangeWindow. A client that is behind the window catches up with its own ChangeReader.
// 3. A client holds at most one chunk and one page. The HttpServer drops a client that takes
//    nothing.
// 4. The commit that makes a budget tells the clients that watch everything.
// 5. The caller is looked up again every few seconds: a token that is revoked or expires ends its
//    streams.
//
// Nothing else is asked again and again. Events are sent in batches, 20 times a second at most. All
// work is done on one separate thread.
class ChangeBroadcast {
 public:
  using Task = absl::AnyInvocable<void(ChangeBroadcast&) &&>;

  // REQUIRES: `gateway` and `ledger` outlive this.
  ChangeBroadcast(RpcGateway& gateway, core::DurableLedger& ledger);

  void Start();
  // Drops the clients. REQUIRES: Start was called.
  void Stop();

  RpcGateway& gateway() { return gateway_; }

  // Runs a task on the thread of this object, or drops it after Stop. Any thread.
  void Post(Task task);

  // The rest is for tasks. Adds the client and returns its number, or nullopt if there are too
  // many.
  std::optional<uint64_t> Add(ChangeClient client);
  void Remove(uint64_t number) { clients_.erase(number); }
  void Ask(uint64_t number, ChunkSource::Give give);

 private:
  // A resource that is watched once for all clients of an audience who are up to date.
  struct Channel {
    explicit Channel(int64_t begin) : window(begin) {}
    ChangeWindow window;
    std::unique_ptr<ChangeReader> watch;
    SteadyTime open_time = -absl::InfiniteDuration();  // not before
    SteadyTime unwatched_since = absl::InfiniteDuration();
  };

  // The key of a channel. Names contain no newline.
  static std::string KeyOf(const std::string& audience, const std::string& resource);
  static std::string ResourceOf(const std::string& key) { return key.substr(key.find('\n') + 1); }
  static bool KeyIsOf(const std::string& key, const ChangeClient& client);

  void Run();

  void Follow(const std::string& resource, const Following& following, const ChangeClient& client);
  // Follows the budgets that are new, from their first entry.
  void FollowNew(uint64_t number, const std::set<std::string>& budgets);
  std::unique_ptr<ChangeReader> NewReader(const std::string& resource, int64_t after,
                                          const HttpCaller& caller);

  // Watches from the end of the window on.
  void OpenWatch(const std::string& key, Channel& channel, const HttpCaller& caller);
  void ReadWatch(const std::string& key, Channel& channel);
  void OnWatchEnd(const std::string& key, Channel& channel);

  // Gives the client its events, if it waits.
  void Tell(uint64_t number, ChangeClient& client, SteadyTime now);
  // Returns the next events of the client, one chunk at most.
  std::string TakeEvents(uint64_t number, ChangeClient& client);
  // Reads the client's own watch, event by event, until the client is in the window.
  void CatchUp(uint64_t number, const std::string& resource, Following& following,
               const ChangeClient& client);
  void OnCaughtUp(uint64_t number, const std::string& resource, std::optional<ChangeEvent> event);
  void End(ChangeClient& client, const grpc::Status& status);

  void KeepHouse(SteadyTime now);
  void KeepChannel(const std::string& key, Channel& channel, SteadyTime now);
  void LookUp(uint64_t number, const ChangeClient& client);

  RpcGateway& gateway_;
  core::DurableLedger& ledger_;
  const std::shared_ptr<TaskInbox> inbox_ = std::make_shared<TaskInbox>();
  std::thread thread_;

  // Only the thread of this object uses these.
  bool stopped_ = false;
  bool is_dirty_ = false;        // somebody may have something to get
  bool has_broken_off_ = false;  // somebody's catching up, and is to continue
  uint64_t last_client_ = 0;
  std::map<uint64_t, ChangeClient> clients_;
  std::map<std::string, Channel> channels_;
  SteadyTime last_look_up_ = SteadyNow();
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_BROADCAST_H_
