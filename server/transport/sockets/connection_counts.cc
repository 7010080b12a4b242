#include "server/transport/sockets/connection_counts.h"

#include <algorithm>

#include "server/transport/sockets/peer_key.h"

namespace epsledger::transport {

using boost::asio::ip::address;

RateLimits ConnectionRate(double per_second, bool tls) {
  if (per_second == 0) per_second = tls ? 100 : 1000;
  return {.burst = std::max(1024.0, 10 * per_second), .per_second = per_second};
}

bool ConnectionCounts::Add(const address& peer) {
  const address plain = Plain(peer);
  const std::string key = PeerKeyOf(plain);
  const auto known = of_peer_.find(key);
  const size_t of_peer = known == of_peer_.end() ? 0 : known->second;
  const bool fits = plain.is_loopback()
                        ? all_ < limits_.all
                        : all_ + limits_.reserved < limits_.all && of_peer < limits_.of_peer;
  if (!fits) return false;
  ++all_;
  ++of_peer_[key];
  return true;
}

bool ConnectionCounts::Replace(const address& leaving, const address& peer) {
  const std::string key = PeerKeyOf(peer);
  const bool is_same = PeerKeyOf(leaving) == key;
  const auto known = of_peer_.find(key);
  if (!is_same && !Plain(peer).is_loopback() && known != of_peer_.end() &&
      known->second >= limits_.of_peer) {
    return false;
  }
  Remove(leaving);
  ++all_;
  ++of_peer_[key];
  return true;
}

void ConnectionCounts::Remove(const address& peer) {
  const auto known = of_peer_.find(PeerKeyOf(peer));
  --all_;
  if (--known->second == 0) of_peer_.erase(known);
}

}  // namespace epsledger::transport
