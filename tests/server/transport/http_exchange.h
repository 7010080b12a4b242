#ifndef EPSLEDGER_TESTS_SERVER_TRANSPORT_HTTP_EXCHANGE_H_
#define EPSLEDGER_TESTS_SERVER_TRANSPORT_HTTP_EXCHANGE_H_

#include <cstdint>
#include <string>

#include "boost/asio/buffer.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/read.hpp"
#include "boost/asio/write.hpp"

namespace epsledger::transport {

// Sends `bytes`, and returns everything that arrives until the server closes the connection.
inline std::string Exchange(const std::string& address, const std::string& bytes) {
  using boost::asio::ip::tcp;
  boost::asio::io_context context;
  tcp::socket socket(context);
  const size_t colon = address.rfind(':');
  socket.connect({boost::asio::ip::make_address(address.substr(0, colon)),
                  static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  boost::system::error_code ignored;
  boost::asio::write(socket, boost::asio::buffer(bytes), ignored);
  std::string answer;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), ignored);
  return answer;
}

inline std::string Get(const std::string& address, const std::string& target,
                       const std::string& method = "GET") {
  return Exchange(address,
                  method + " " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_TESTS_SERVER_TRANSPORT_HTTP_EXCHANGE_H_
