#include "server/access/distinct_name.h"

#include <utility>

#include "accounting/event/printable.h"

namespace epsledger::access {
namespace {

// Returns true if the UTF-8 text has a character that changes how others look, or none to see:
// combining marks (U+0300 to U+036F, U+1AB0 to U+1AFF, U+1DC0 to U+1DFF, U+20D0 to U+20FF, U+FE20
// to U+FE2F), the soft hyphen, and those without width (U+200B to U+200F, U+2060 to U+2064,
// U+FEFF).
bool HasUnseen(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const auto byte = [&](size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned first = byte(i);
    unsigned code = 0;
    if (first >= 0xc2 && first < 0xe0) {
      code = (first & 0x1f) << 6 | (byte(i + 1) & 0x3f);
    } else if (first >= 0xe0 && first < 0xf0) {
      code = (first & 0x0f) << 12 | (byte(i + 1) & 0x3f) << 6 | (byte(i + 2) & 0x3f);
    }
    constexpr std::pair<unsigned, unsigned> kRanges[] = {
        {0xad, 0xad},     {0x300, 0x36f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
        {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
    for (const auto& [low, high] : kRanges) {
      if (code >= low && code <= high) return true;
    }
  }
  return false;
}

}  // namespace

bool IsDistinctName(std::string_view name) {
  return !name.empty() && name.front() != ' ' && name.back() != ' ' &&
         name.find("  ") == name.npos && accounting::IsPrintable(name) && !HasUnseen(name);
}

}  // namespace epsledger::access
