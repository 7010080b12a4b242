#include "server/transport/sockets/peer_key.h"

#include "boost/asio/ip/address_v4.hpp"
#include "boost/asio/ip/address_v6.hpp"

namespace epsledger::transport {

using boost::asio::ip::address;

address Plain(const address& peer) {
  if (!peer.is_v6() || !peer.to_v6().is_v4_mapped()) return peer;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, peer.to_v6());
}

std::string PeerKeyOf(const address& peer) {
  const address plain = Plain(peer);
  if (plain.is_v4()) {
    const auto bytes = plain.to_v4().to_bytes();
    return std::string(bytes.begin(), bytes.end());
  }
  const auto bytes = plain.to_v6().to_bytes();
  return std::string(bytes.begin(), bytes.begin() + 8);
}

}  // namespace epsledger::transport
