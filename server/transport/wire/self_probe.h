#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_SELF_PROBE_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_SELF_PROBE_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "boost/asio/generic/stream_protocol.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"

namespace epsledger::transport::wire {

// A client of this server that accepts any answer: HTTP/2's settings or, with TLS, the reply that
// its message is not TLS. A server that takes no connections gives no answer. Runs on the context's
// thread, and keeps itself alive until it has reported the result.
class SelfProbe : public std::enable_shared_from_this<SelfProbe> {
 public:
  using Endpoint = boost::asio::generic::stream_protocol::endpoint;
  // `why`: the reason why no answer came; empty if one came.
  using Done = absl::AnyInvocable<void(const std::string& why) &&>;

  SelfProbe(boost::asio::io_context& context, Endpoint endpoint)
      : endpoint_(std::move(endpoint)), socket_(context), timer_(context) {}

  // `done` is called once, within kProbeTimeout.
  void Start(Done done);

 private:
  void SayHello();
  void AwaitAnswer();
  void Finish(const std::string& why);

  const Endpoint endpoint_;
  boost::asio::generic::stream_protocol::socket socket_;
  boost::asio::steady_timer timer_;
  Done done_;
  char answer_ = 0;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_SELF_PROBE_H_
