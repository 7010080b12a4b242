#include "server/transport/wire/self_probe.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/buffer.hpp"
#include "boost/asio/error.hpp"
#include "boost/asio/write.hpp"
#include "server/transport/wire/limits.h"

namespace epsledger::transport::wire {
namespace {

using boost::system::error_code;

// The preface of HTTP/2 and settings without one (RFC 9113, section 3.4).
constexpr std::string_view kHello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);

}  // namespace

void SelfProbe::Start(Done done) {
  done_ = std::move(done);
  timer_.expires_after(kProbeTimeout);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->Finish("does not answer this server itself");
  });
  socket_.async_connect(endpoint_, [self = shared_from_this()](error_code error) {
    if (error) return self->Finish(absl::StrCat("cannot be connected to: ", error.message()));
    self->SayHello();
  });
}

void SelfProbe::SayHello() {
  boost::asio::async_write(socket_, boost::asio::buffer(kHello.data(), kHello.size()),
                           [self = shared_from_this()](error_code, size_t) {
                             self->AwaitAnswer();  // a connection that is cut off is an answer too
                           });
}

void SelfProbe::AwaitAnswer() {
  socket_.async_read_some(boost::asio::buffer(&answer_, 1),
                          [self = shared_from_this()](error_code error, size_t) {
                            if (error != boost::asio::error::operation_aborted) self->Finish("");
                          });
}

void SelfProbe::Finish(const std::string& why) {
  if (!done_) return;
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
  std::exchange(done_, nullptr)(why);
}

}  // namespace epsledger::transport::wire
