#include "server/transport/http/http_stream.h"

#include <utility>

#include "boost/asio/ssl/stream.hpp"
#include "boost/beast/core/stream_traits.hpp"
#include "boost/beast/ssl/ssl_stream.hpp"
#include "server/transport/tls/server_tls.h"

namespace epsledger::transport {

struct HttpStream::Tls {
  Tls(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> c)
      : context(std::move(c)), stream(std::move(socket), *context) {}

  const std::shared_ptr<boost::asio::ssl::context> context;
  boost::beast::ssl_stream<boost::beast::tcp_stream> stream;
};

HttpStream::HttpStream(boost::asio::ip::tcp::socket socket)
    : plain_(std::make_unique<boost::beast::tcp_stream>(std::move(socket))) {}

HttpStream::HttpStream(boost::asio::ip::tcp::socket socket,
                       std::shared_ptr<boost::asio::ssl::context> tls)
    : tls_(std::make_unique<Tls>(std::move(socket), std::move(tls))) {}

HttpStream::~HttpStream() = default;

boost::beast::tcp_stream& HttpStream::tcp() {
  return tls_ ? boost::beast::get_lowest_layer(tls_->stream) : *plain_;
}

void HttpStream::Handshake(Done done) {
  tls_->stream.async_handshake(boost::asio::ssl::stream_base::server, std::move(done));
}

std::string HttpStream::ClientCertificatePem() {
  return transport::ClientCertificatePem(tls_->stream.native_handle());
}

void HttpStream::EndOutput(Done done) {
  if (tls_) return tls_->stream.async_shutdown(std::move(done));
  boost::system::error_code error;
  plain_->socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, error);
  std::move(done)(error);
}

void HttpStream::ReadSome(const Buffers<boost::asio::mutable_buffer>& buffers, Moved moved) {
  if (tls_) return tls_->stream.async_read_some(buffers, std::move(moved));
  plain_->async_read_some(buffers, std::move(moved));
}

void HttpStream::WriteSome(const Buffers<boost::asio::const_buffer>& buffers, Moved moved) {
  if (tls_) return tls_->stream.async_write_some(buffers, std::move(moved));
  plain_->async_write_some(buffers, std::move(moved));
}

}  // namespace epsledger::transport
