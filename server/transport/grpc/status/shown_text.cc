#include "server/transport/grpc/status/shown_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/printable.h"
#include "server/transport/grpc/limits.h"

namespace epsledger::transport {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string Shown(std::string_view text) {
  const std::string escaped = absl::CHexEscape(View(text.substr(0, kMaxShownBytes)));
  if (text.size() <= kMaxShownBytes) return absl::StrCat("\"", escaped, "\"");
  return absl::StrCat("\"", escaped, "...\" (", text.size(), " bytes)");
}

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most < 3 ? 0 : most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(View(text.substr(0, end)), "...");
}

absl::Status CheckText(const std::string& field, std::string_view text, int64_t least,
                       int64_t most) {
  const int64_t size = static_cast<int64_t>(text.size());
  if (size < least || size > most) {
    return accounting::OutOfDomain(
        field, absl::StrCat(size, " bytes"),
        least == 0 ? absl::StrCat("at most ", most) : absl::StrCat(least, " to ", most));
  }
  if (!accounting::IsPrintable(text)) {
    return accounting::OutOfDomain(field, Shown(text), "text without control characters");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::transport
