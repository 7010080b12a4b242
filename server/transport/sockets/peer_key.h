#ifndef EPSLEDGER_SERVER_TRANSPORT_SOCKETS_PEER_KEY_H_
#define EPSLEDGER_SERVER_TRANSPORT_SOCKETS_PEER_KEY_H_

#include <string>

#include "boost/asio/ip/address.hpp"

namespace epsledger::transport {

// The address as what it is: an IPv4 address may come in the form of an IPv6 address.
boost::asio::ip::address Plain(const boost::asio::ip::address& peer);

// What is counted as one peer: an IPv4 address, or the /64 of an IPv6 address, which one household
// has.
std::string PeerKeyOf(const boost::asio::ip::address& peer);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_SOCKETS_PEER_KEY_H_
