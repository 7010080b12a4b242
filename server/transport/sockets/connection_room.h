#ifndef EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_ROOM_H_
#define EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "boost/asio/ip/address.hpp"
#include "server/transport/sockets/connection_counts.h"

namespace epsledger::transport {

// The connections of a listener whose number is bounded. Where a new one does not fit, it takes the
// place of one that waits for a request: of the same peer if there is one, otherwise of any, but
// none of what is reserved for this machine for a peer on another one; of those, one that has made
// no request yet, otherwise any; of those, the one that waits longest. So connections that send
// nothing keep nobody out. Not thread-safe.
class ConnectionRoom {
 public:
  using Id = uint64_t;
  struct Entry {
    Id id = 0;
    // The connection that had to leave and must be closed now.
    std::optional<Id> ended;
  };

  explicit ConnectionRoom(ConnectionLimits limits = {})
      : reserved_(limits.reserved), counts_(limits) {}

  // Adds a connection, which waits for its first request. Returns nullopt if no room can be made:
  // the new connection must be closed.
  std::optional<Entry> Enter(const boost::asio::ip::address& peer);
  // Does nothing if the connection had to leave before.
  void Leave(Id id);

  // A whole request has arrived: the connection keeps its place until it waits again.
  void Work(Id id);
  // It waits for the next request.
  void Wait(Id id);

 private:
  struct Place {
    boost::asio::ip::address peer;
    bool is_waiting = true;
    bool has_worked = false;
    uint64_t since = 0;  // rises
  };

  std::map<Id, Place>::iterator WhoLeavesFor(const boost::asio::ip::address& peer);

  const size_t reserved_;
  ConnectionCounts counts_;
  std::map<Id, Place> places_;
  uint64_t last_ = 0;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_ROOM_H_
