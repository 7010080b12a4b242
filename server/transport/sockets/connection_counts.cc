#include "server/transport/sockets/connection_counts.h"

#include "boost/asio/ip/address_v4.hpp"
#include "boost/asio/ip/address_v6.hpp"

namespace epsledger::transport {
namespace {

using boost::asio::ip::address;

// An IPv4 address may come in the form of an IPv6 address.
address Plain(const address& peer) {
  if (!peer.is_v6() || !peer.to_v6().is_v4_mapped()) return peer;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, peer.to_v6());
}

std::string KeyOf(const address& peer) {
  if (peer.is_v4()) {
    const auto bytes = peer.to_v4().to_bytes();
    return std::string(bytes.begin(), bytes.end());
  }
  const auto bytes = peer.to_v6().to_bytes();
  return std::string(bytes.begin(), bytes.begin() + 8);
}

}  // namespace

bool ConnectionCounts::Add(const address& peer) {
  const address plain = Plain(peer);
  const std::string key = KeyOf(plain);
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

void ConnectionCounts::Remove(const address& peer) {
  const auto known = of_peer_.find(KeyOf(Plain(peer)));
  --all_;
  if (--known->second == 0) of_peer_.erase(known);
}

}  // namespace epsledger::transport
