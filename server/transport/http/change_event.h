#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_EVENT_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_EVENT_H_

// What is sent to a client of /v1/events: server-sent events (HTML Living Standard, 9.2).

#include <cstdint>
#include <memory>
#include <string>

#include "epsledger/v1/change.pb.h"
#include "grpcpp/support/status.h"
#include "server/transport/http/change_positions.h"

namespace epsledger::transport {

// A change as it is sent, without its id: that holds the positions of one client, and the rest is
// the same for all.
struct ChangeEvent {
  int64_t sequence = 0;
  std::shared_ptr<const std::string> text;
};

// Returns the event of a change of "budgets/adult" or "budgets/adult/sessions/first": "charge",
// "budget", ..., with the change as JSON, or "bookmark" without content.
ChangeEvent ToEvent(const std::string& resource, const v1::LedgerChange& change);

// Returns the event with its id, by which a client continues after it.
std::string WithId(const ChangePositions& positions, const ChangeEvent& event);

// Returns the last event of a stream, which says why the stream ends.
std::string EndEvent(const grpc::Status& status);

// Shows proxies and clients that an idle stream is alive.
inline constexpr char kAliveComment[] = ": alive\n\n";

// A browser that lost its stream reconnects after this many milliseconds instead of its own
// default.
inline constexpr char kRetryField[] = "retry: 500\n\n";

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_EVENT_H_
