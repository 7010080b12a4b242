#ifndef EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_RATES_H_
#define EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_RATES_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "boost/asio/ip/address.hpp"

namespace epsledger::transport {

struct ConnectionRateLimits {
  // Connections that one peer may open in quick succession, and how fast that many are allowed
  // again. A fleet of trainers behind one address that starts at once is let in, or within seconds
  // by its own retries; of a flood of TLS handshakes, a millisecond each, one peer has a tenth of a
  // processor.
  double burst = 1024;
  double per_second = 100;
  // Peers that are remembered. Others share one allowance while there are so many.
  size_t peers = 16'384;
};

// How fast peers open connections, and whether one more is too fast. A peer as in peer_key.h, also
// one of this machine: who churns there keeps out itself. Not thread-safe.
class ConnectionRates {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ConnectionRates(ConnectionRateLimits limits = {}) : limits_(limits) {}

  // True if the peer may open one more at `now`, which is counted. REQUIRES: `now` never goes back.
  // Cost: O(1), and O(peers) at most once in the time in which an allowance fills.
  bool Take(const boost::asio::ip::address& peer, Clock::time_point now);

 private:
  struct Allowance {
    double left = 0;
    Clock::time_point time;  // at which `left` was
  };

  bool TakeOne(Allowance& allowance, Clock::time_point now) const;
  double LeftAt(const Allowance& allowance, Clock::time_point now) const;
  // Forgets peers whose allowance is whole again: they are as those that never came.
  void ForgetIdle(Clock::time_point now);

  const ConnectionRateLimits limits_;
  std::unordered_map<std::string, Allowance> of_peer_;
  Allowance of_others_;
  Clock::time_point forget_time_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_SOCKETS_CONNECTION_RATES_H_
