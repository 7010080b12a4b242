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
  // Connections of one peer: an office behind one address, each of its dashboards with a stream of
  // events. Peers on this machine, such as probes and proxies, are not held to it.
  size_t of_peer = 128;
  // This many of all are kept for peers on this machine: probes are answered however many others
  // come.
  size_t reserved = 32;
};

// How fast one peer may open connections to a door, a peer of this machine too: `per_second` in the
// long run, and as many at once as in ten seconds, 1,024 at least, so that a fleet of trainers
// behind one address that starts together is let in. 0 is what costs the server a tenth of a
// processor: 100 with TLS, whose handshake takes a millisecond, or 1,000 in plaintext.
RateLimits ConnectionRate(double per_second, bool tls);

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
