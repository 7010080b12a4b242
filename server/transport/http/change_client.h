#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_CLIENT_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "epsledger/v1/access_service.pb.h"
#include "grpcpp/support/status.h"
#include "server/core/tenant.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/http/change_event.h"
#include "server/transport/http/change_positions.h"
#include "server/transport/http/change_reader.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"
#include "server/transport/http/topmost_budgets.h"

namespace epsledger::transport {

// The maximum number of resources that one client watches: their names are in every id.
inline constexpr size_t kMaxWatchedResources = 64;

// How far one client is with one resource.
struct Following {
  int64_t told = 0;
  // Set while the client is behind the window.
  std::unique_ptr<ChangeReader> catch_up;
  bool is_reading = false;       // catch_up
  std::deque<ChangeEvent> page;  // read and not yet sent
};

// A client of /v1/events: who listens, to what, and what it has got.
struct ChangeClient {
  HttpCaller caller;
  core::Tenant tenant;
  // The tenant and, for a caller with grants, also the caller: clients of one audience see the same
  // changes.
  std::string audience;
  std::map<std::string, Following> following;  // by resource
  // Set if the client watches all budgets that it may, also future ones.
  bool follows_all = false;
  std::unique_ptr<TopmostBudgets> all;

  std::optional<ChunkSource::Give> waiting;  // for the next chunk
  SteadyTime last_told = -absl::InfiniteDuration();
  std::optional<grpc::Status> end;  // why the stream ends, until the client is told
  bool has_ended = false;           // it has got the end, and gets nothing more

  // Sets the tenant and the audience.
  void Identify(const v1::Caller& who);
  // Returns how far the client is with everything that it follows.
  ChangePositions Positions() const;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_CLIENT_H_
