#include "server/transport/grpc/converters/page_token.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "server/core/limits.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr size_t kCheckBytes = 8;

// FNV-1a. It detects tokens that were cut, changed or taken from another list. It does not prevent
// forgery: a forger could only read a page that they may read anyway.
std::string CheckValue(std::string_view list, std::string_view after) {
  uint64_t hash = 14695981039346656037u;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 1099511628211u; };
  for (const char c : list) add(static_cast<unsigned char>(c));
  add(0);
  for (const char c : after) add(static_cast<unsigned char>(c));
  std::string bytes(kCheckBytes, '\0');
  for (size_t i = 0; i < kCheckBytes; ++i) bytes[i] = static_cast<char>(hash >> (8 * i));
  return bytes;
}

}  // namespace

std::string MakePageToken(std::string_view list, std::string_view after) {
  return absl::WebSafeBase64Escape(CheckValue(list, after) + std::string(after));
}

absl::StatusOr<std::string> ReadPageToken(std::string_view list, std::string_view token) {
  if (token.empty()) return std::string();
  std::string bytes;
  if (token.size() <= kMaxPageTokenBytes &&
      absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &bytes) &&
      bytes.size() > kCheckBytes) {
    const std::string after = bytes.substr(kCheckBytes);
    // Compares the whole text, because base64 has several spellings of the same bytes.
    if (MakePageToken(list, after) == token) return after;
  }
  return accounting::OutOfDomain(
      "pageToken", Shown(token),
      "the nextPageToken of the answer before, with the same other fields");
}

absl::StatusOr<int64_t> ReadPageSize(int32_t requested) {
  RETURN_IF_ERROR(accounting::CheckRange("pageSize", requested, 0, core::kMaxPageSize));
  return requested == 0 ? kDefaultPageSize : requested;
}

}  // namespace epsledger::transport
