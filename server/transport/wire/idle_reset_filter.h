#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_IDLE_RESET_FILTER_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_IDLE_RESET_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace epsledger::transport::wire {

// Leaves out of what a client sends the frames that reset a stream that it has not begun.
//
// gRPC 1.51 and others send one for a call that is cancelled before its headers are written.
// RFC 9113, section 5.1, makes that an error of the whole connection, for which nghttp2 ends it,
// and every other call on it with it. Nothing else is looked at: whether the rest is HTTP/2 is for
// nghttp2 to say.
class IdleResetFilter {
 public:
  // Calls `pass` with the bytes that remain, in order, and stops where it returns false. The result
  // is that of the last `pass`, true without one. Cost: linear in the bytes.
  bool Take(std::string_view bytes, absl::FunctionRef<bool(std::string_view)> pass);

 private:
  size_t preface_left_ = 24;  // bytes (RFC 9113, section 3.4)
  std::string header_;        // of a frame, as long as it is not whole
  size_t payload_left_ = 0;   // of the frame that has begun
  bool leaves_out_ = false;   // this frame
  uint32_t last_begun_ = 0;   // stream
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_IDLE_RESET_FILTER_H_
