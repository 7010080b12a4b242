#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_IDLE_RESET_FILTER_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_IDLE_RESET_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace epsledger::transport::wire {

// Removes frames by which a client resets a stream that it has not begun.
//
// gRPC 1.51 and others send one for a call that is cancelled before its headers are written. RFC
// 9113, section 5.1, makes that an error of the whole connection, so nghttp2 ends the connection
// and every other call on it. The filter checks nothing else: nghttp2 decides whether the rest is
// HTTP/2.
class IdleResetFilter {
 public:
  // Calls `pass` with the remaining bytes, in order, and stops when it returns false. Returns the
  // result of the last `pass`, or true without one. Cost: linear in the bytes.
  bool Take(std::string_view bytes, absl::FunctionRef<bool(std::string_view)> pass);

 private:
  size_t preface_left_ = 24;  // bytes (RFC 9113, section 3.4)
  std::string header_;        // of a frame, while it is incomplete
  size_t payload_left_ = 0;   // of the frame that has begun
  bool leaves_out_ = false;   // the present frame
  uint32_t last_begun_ = 0;   // stream
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_IDLE_RESET_FILTER_H_
