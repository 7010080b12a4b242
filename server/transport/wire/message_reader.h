#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_MESSAGE_READER_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_MESSAGE_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grpcpp/support/status.h"

namespace epsledger::transport::wire {

// Extracts gRPC messages from the bytes of a call: a byte that says whether the message is
// compressed, its length in four bytes, the message. Holds memory only for received bytes, not for
// the bytes that a length announces.
class MessageReader {
 public:
  // `max_bytes`: the largest message.
  explicit MessageReader(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Takes bytes and appends the messages that end in them.
  //   RESOURCE_EXHAUSTED  a length beyond max_bytes, as soon as it is read
  //   UNIMPLEMENTED       a compressed message, before it is read
  //   INTERNAL            a first byte that is neither 0 nor 1
  // After an error it takes no more bytes. Cost: linear in the bytes.
  grpc::Status Take(std::string_view bytes, std::vector<std::string>* messages);

  // The bytes of an incomplete message.
  size_t unfinished_bytes() const { return prefix_.size() + message_.size(); }

 private:
  const size_t max_bytes_;
  std::string prefix_;  // while it is incomplete
  bool in_message_ = false;
  size_t message_bytes_ = 0;  // of the message that has begun
  std::string message_;
};

// Returns the prefix of a message to send, which is never compressed.
std::string PrefixOf(size_t message_bytes);

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_MESSAGE_READER_H_
