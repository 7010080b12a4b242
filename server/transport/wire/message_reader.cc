#include "server/transport/wire/message_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"

namespace epsledger::transport::wire {
namespace {

constexpr size_t kPrefixBytes = 5;

}  // namespace

grpc::Status MessageReader::Take(std::string_view bytes, std::vector<std::string>* messages) {
  while (true) {
    if (!in_message_) {
      const size_t taken = std::min(bytes.size(), kPrefixBytes - prefix_.size());
      prefix_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (prefix_.size() < kPrefixBytes) return grpc::Status::OK;
      if (prefix_[0] != 0) {
        return prefix_[0] == 1
                   ? grpc::Status(grpc::StatusCode::UNIMPLEMENTED,
                                  "request: got a compressed message, want one that is not")
                   : grpc::Status(grpc::StatusCode::INTERNAL,
                                  "request: the first byte of a message is neither 0 nor 1");
      }
      message_bytes_ = 0;
      for (size_t i = 1; i < kPrefixBytes; ++i) {
        message_bytes_ = message_bytes_ << 8 | static_cast<uint8_t>(prefix_[i]);
      }
      if (message_bytes_ > max_bytes_) {
        return {grpc::StatusCode::RESOURCE_EXHAUSTED,
                absl::StrFormat("request: got a message of %d bytes, want at most %d",
                                message_bytes_, max_bytes_)};
      }
      prefix_.clear();
      in_message_ = true;
    }
    const size_t taken = std::min(bytes.size(), message_bytes_ - message_.size());
    message_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (message_.size() < message_bytes_) return grpc::Status::OK;
    messages->push_back(std::exchange(message_, std::string()));
    in_message_ = false;
    if (bytes.empty()) return grpc::Status::OK;
  }
}

std::string PrefixOf(size_t message_bytes) {
  std::string prefix(kPrefixBytes, '\0');
  for (size_t i = 1; i < kPrefixBytes; ++i) {
    prefix[i] = static_cast<char>(message_bytes >> 8 * (kPrefixBytes - 1 - i) & 0xff);
  }
  return prefix;
}

}  // namespace epsledger::transport::wire
