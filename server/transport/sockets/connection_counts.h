#ifndef EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_COUNTS_H_
#define EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_COUNTS_H_

#include <cstddef>
#include <map>
#include <string>

#include "boost/asio/ip/address.hpp"
#include "server/transport/rates/rate_limiter.h"

namespace epsledger::transport {

struct ConnectionLimits {
  // Half of the usual number of file descriptors of a process.
  size_t all = 512;
  // Connections of one peer. Enough for an office behind one address, where each dashboard has a
  // stream of events. The limit does not apply to peers on this machine, such as probes and
  // proxies.
  size_t of_peer = 128;
  // This many of `all` are reserved for peers on this machine, so that probes are answered however
  // many others come.
  size_t reserved = 32;
};

// Returns how fast one peer, even on this machine, may open connections to a listener: `per_second`
// in the long run, with a burst of ten seconds' worth, at least 1,024, so that a fleet of trainers
// behind one address can start together. 0 stands for the rate that costs the server a tenth of a
// processor: 100 with TLS, whose handshake takes a millisecond, or 1,000 in plaintext.
RateLimits ConnectionRate(double per_second, bool tls);

// Counts connections and decides whether there is room for one more. Peers are those of peer_key.h.
// Not thread-safe.
class ConnectionCounts {
 public:
  explicit ConnectionCounts(ConnectionLimits limits = {}) : limits_(limits) {}

  // Counts one more connection of the peer, or returns false if that is one too many.
  bool Add(const boost::asio::ip::address& peer);
  // Counts one more connection of `peer` in place of one of `leaving`, or returns false if the peer
  // has its share already. REQUIRES: a connection of `leaving` is counted.
  bool Replace(const boost::asio::ip::address& leaving, const boost::asio::ip::address& peer);
  // Removes one connection of the peer. REQUIRES: it was added.
  void Remove(const boost::asio::ip::address& peer);

 private:
  const ConnectionLimits limits_;
  size_t all_ = 0;
  std::map<std::string, size_t> of_peer_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_COUNTS_H_
