#include "server/transport/wire/idle_reset_filter.h"

#include <algorithm>

namespace epsledger::transport::wire {
namespace {

// RFC 9113, sections 4.1, 6.2 and 6.4.
constexpr size_t kHeaderBytes = 9;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kReset = 3;
constexpr size_t kResetBytes = 4;

uint32_t Number(std::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

}  // namespace

bool IdleResetFilter::Take(std::string_view bytes, absl::FunctionRef<bool(std::string_view)> pass) {
  // The bytes that are not passed on yet.
  std::string_view rest = bytes;
  const auto pass_before = [&](size_t at) {
    const std::string_view whole = rest.substr(0, at);
    rest.remove_prefix(at);
    return whole.empty() || pass(whole);
  };
  size_t at = std::min(preface_left_, rest.size());  // in rest
  preface_left_ -= at;
  while (at < rest.size()) {
    if (payload_left_ > 0) {
      const size_t count = std::min(payload_left_, rest.size() - at);
      payload_left_ -= count;
      if (leaves_out_) {
        rest.remove_prefix(count);  // at is 0: the bytes before it are passed on
      } else {
        at += count;
      }
      continue;
    }
    // A header is held back until it is complete.
    const size_t held = header_.size();
    const size_t count = std::min(kHeaderBytes - held, rest.size() - at);
    header_.append(rest.substr(at, count));
    if (header_.size() < kHeaderBytes) {
      const bool goes_on = pass_before(at);
      rest.remove_prefix(count);
      return goes_on;
    }
    const std::string_view header = header_;
    payload_left_ = Number(header.substr(0, 3));
    const auto type = static_cast<uint8_t>(header[3]);
    const uint32_t stream = Number(header.substr(5)) & 0x7fffffff;
    if (type == kHeaders) last_begun_ = std::max(last_begun_, stream);
    leaves_out_ =
        type == kReset && payload_left_ == kResetBytes && stream % 2 == 1 && stream > last_begun_;
    bool goes_on = true;
    if (leaves_out_) {
      goes_on = pass_before(at);
      rest.remove_prefix(count);
      at = 0;
    } else if (held > 0) {  // at is 0: only the first bytes can continue a header
      rest.remove_prefix(count);
      goes_on = pass(header);
    } else {
      at += count;
    }
    header_.clear();
    if (!goes_on) return false;
  }
  return pass_before(rest.size());
}

}  // namespace epsledger::transport::wire
