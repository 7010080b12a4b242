#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_SELF_PROBE_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_SELF_PROBE_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "boost/asio/generic/stream_protocol.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"

namespace epsledger::transport::wire {

// A client of this very server, which is content with any answer: HTTP/2's settings, or where TLS
// is spoken, that what it said is no TLS. A server that takes no connections gives none. Runs on
// the context's thread, and keeps itself until it has said how it went.
class SelfProbe : public std::enable_shared_from_this<SelfProbe> {
 public:
  using Endpoint = boost::asio::generic::stream_protocol::endpoint;
  // Why there was no answer, empty if there was one.
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
