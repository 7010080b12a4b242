#ifndef EPSLEDGER_SERVER_TRANSPORT_SOCKETS_PEER_KEY_H_
#define EPSLEDGER_SERVER_TRANSPORT_SOCKETS_PEER_KEY_H_

#include <string>

#include "boost/asio/ip/address.hpp"

namespace epsledger::transport {

// Returns the address, with an IPv4 address in the form of an IPv6 address turned into plain IPv4.
boost::asio::ip::address Plain(const boost::asio::ip::address& peer);

// Returns the key of what counts as one peer: an IPv4 address, or the /64 of an IPv6 address, since
// one household has a /64.
std::string PeerKeyOf(const boost::asio::ip::address& peer);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_SOCKETS_PEER_KEY_H_
