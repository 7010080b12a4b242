#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_SHOWN_TEXT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_SHOWN_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace epsledger::transport {

// Returns `text` in the form for error messages: in quotes, one line of printable ASCII, other
// bytes escaped, cut after kMaxShownBytes and then followed by the length: "\"aaaa...\" (65536
// bytes)".
std::string Shown(std::string_view text);

// Returns at most `most` bytes of UTF-8 text, cut between characters.
std::string Shortened(std::string_view text, size_t most);

// Returns OK if `text` has `least` to `most` bytes and no control characters; otherwise
// INVALID_ARGUMENT "budget.displayName: got 65536 bytes, want at most 256".
absl::Status CheckText(const std::string& field, std::string_view text, int64_t least,
                       int64_t most);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_STATUS_SHOWN_TEXT_H_
