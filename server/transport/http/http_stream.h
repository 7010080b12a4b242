#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_STREAM_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_STREAM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "boost/asio/async_result.hpp"
#include "boost/asio/buffer.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/beast/core/buffers_range.hpp"
#include "boost/beast/core/tcp_stream.hpp"
#include "boost/container/static_vector.hpp"

namespace epsledger::transport {

// The bytes of a connection, in plaintext or over TLS. One type serves both, and everything that
// waits on it, so that Beast's templates for a stream are compiled once. It is an AsyncStream of
// Boost.Asio. Only the thread of its executor may use it.
class HttpStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;
  using Done = absl::AnyInvocable<void(boost::system::error_code)>;
  using Moved = absl::AnyInvocable<void(boost::system::error_code, size_t)>;

  explicit HttpStream(boost::asio::ip::tcp::socket socket);
  // Keeps `tls` alive as long as the stream.
  HttpStream(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> tls);
  ~HttpStream();

  bool is_tls() const { return tls_ != nullptr; }
  executor_type get_executor() { return tcp().get_executor(); }
  boost::beast::tcp_stream& tcp();

  // Does the server's side of the handshake. REQUIRES: is_tls().
  void Handshake(Done done);
  // Returns the client's verified certificate; empty if it has none. REQUIRES: is_tls(), after the
  // handshake.
  std::string ClientCertificatePem();
  // Tells the client that nothing follows; over TLS, waits for the client's answer.
  void EndOutput(Done done);

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(boost::system::error_code, size_t)>(
        [this](auto moved, const Buffers& to) {
          ReadSome(List<boost::asio::mutable_buffer>(to), Moved(std::move(moved)));
        },
        handler, buffers);
  }
  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(boost::system::error_code, size_t)>(
        [this](auto moved, const Buffers& from) {
          WriteSome(List<boost::asio::const_buffer>(from), Moved(std::move(moved)));
        },
        handler, buffers);
  }

 private:
  // Only the first buffers are used: a read or write of some bytes may handle fewer than all.
  static constexpr size_t kMaxBuffers = 16;
  template <class Buffer>
  using Buffers = boost::container::static_vector<Buffer, kMaxBuffers>;
  template <class Buffer, class Sequence>
  static Buffers<Buffer> List(const Sequence& sequence) {
    Buffers<Buffer> list;
    for (const auto buffer : boost::beast::buffers_range_ref(sequence)) {
      if (list.size() == kMaxBuffers) break;
      list.emplace_back(buffer);
    }
    return list;
  }
  void ReadSome(const Buffers<boost::asio::mutable_buffer>& buffers, Moved moved);
  void WriteSome(const Buffers<boost::asio::const_buffer>& buffers, Moved moved);

  struct Tls;
  const std::unique_ptr<boost::beast::tcp_stream> plain_;
  const std::unique_ptr<Tls> tls_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_STREAM_H_
