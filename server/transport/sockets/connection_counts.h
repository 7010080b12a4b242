#ifndef EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_COUNTS_H_
#define EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_COUNTS_H_

#include <cstddef>
#include <map>
#include <string>

#include "boost/asio/ip/address.hpp"
#include "server/transport/rates/rate_limiter.h"

namespace epsledger::transport {

struct ConnectionLimits {
  // Half of the file descriptors that a process commonly has.
  size_t all = 512;
  // Of one peer: an office behind one address, each of its dashboards with a stream of events. A
  // peer of this machine, as a probe or a proxy, is not held to it.
  size_t of_peer = 128;
  // Of all, those that only peers of this machine may take: probes are answered however many others
  // come.
  size_t reserved = 32;
};

// How fast one peer may open connections, to each door: a fleet of trainers behind one address that
// starts at once is let in, or within seconds by its own retries; of a flood of TLS handshakes, a
// millisecond each, one peer has a tenth of a processor. Also a peer of this machine: who churns
// there keeps out itself.
inline constexpr RateLimits kConnectionRate{.burst = 1024, .per_second = 100};

// How many connections there are, and whether there is room for one more. A peer as in
// peer_key.h. Not thread-safe.
class ConnectionCounts {
 public:
  explicit ConnectionCounts(ConnectionLimits limits = {}) : limits_(limits) {}

  // Counts one more connection of the peer, or returns false where that is one too many.
  bool Add(const boost::asio::ip::address& peer);
  // One of the peer's connections is gone. REQUIRES: it was added.
  void Remove(const boost::asio::ip::address& peer);

 private:
  const ConnectionLimits limits_;
  size_t all_ = 0;
  std::map<std::string, size_t> of_peer_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_COUNTS_H_
