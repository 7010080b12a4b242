#include "server/transport/sockets/connection_rates.h"

#include <algorithm>

#include "server/transport/sockets/peer_key.h"

namespace epsledger::transport {

double ConnectionRates::LeftAt(const Allowance& allowance, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - allowance.time).count();
  return std::min(limits_.burst, allowance.left + limits_.per_second * std::max(0.0, seconds));
}

bool ConnectionRates::TakeOne(Allowance& allowance, Clock::time_point now) const {
  allowance.left = LeftAt(allowance, now);
  allowance.time = now;
  if (allowance.left < 1) return false;
  --allowance.left;
  return true;
}

void ConnectionRates::ForgetIdle(Clock::time_point now) {
  if (now < forget_time_) return;
  const std::chrono::duration<double> fill(limits_.burst / limits_.per_second);
  forget_time_ = now + std::chrono::duration_cast<Clock::duration>(fill);
  for (auto it = of_peer_.begin(); it != of_peer_.end();) {
    it = LeftAt(it->second, now) >= limits_.burst ? of_peer_.erase(it) : std::next(it);
  }
}

bool ConnectionRates::Take(const boost::asio::ip::address& peer, Clock::time_point now) {
  const std::string key = PeerKeyOf(peer);
  auto known = of_peer_.find(key);
  if (known == of_peer_.end() && of_peer_.size() >= limits_.peers) ForgetIdle(now);
  if (known == of_peer_.end() && of_peer_.size() < limits_.peers) {
    known = of_peer_.emplace(key, Allowance{.left = limits_.burst, .time = now}).first;
  }
  return TakeOne(known == of_peer_.end() ? of_others_ : known->second, now);
}

}  // namespace epsledger::transport
