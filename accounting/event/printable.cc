#include "accounting/event/printable.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

namespace epsledger::accounting {
namespace {

struct Character {
  size_t bytes = 1;
  uint32_t code = 0;
};

// Returns the character of two or three bytes at the start of the text, or its first byte: every
// control is one of these.
Character First(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  if ((byte(0) & 0xE0) == 0xC0 && follows(1)) {
    return {2, (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu)};
  }
  if ((byte(0) & 0xF0) == 0xE0 && follows(1) && follows(2)) {
    return {3, (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu)};
  }
  if ((byte(0) & 0xF8) == 0xF0 && follows(1) && follows(2) && follows(3)) return {4, 0x10000};
  return {1, byte(0)};
}

bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Calls `visit`, void(std::string_view, const Character&), with every character.
template <class Visit>
void ForEach(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const Character character = First(text);
    visit(text.substr(0, character.bytes), character);
    text.remove_prefix(character.bytes);
  }
}

}  // namespace

bool IsPrintable(std::string_view text) {
  bool is_printable = true;
  ForEach(text, [&](std::string_view, const Character& character) {
    is_printable = is_printable && !IsControl(character.code);
  });
  return is_printable;
}

std::string Printable(std::string_view text) {
  std::string printable;
  ForEach(text, [&](std::string_view bytes, const Character& character) {
    IsControl(character.code) ? printable.append("?") : printable.append(bytes);
  });
  return printable;
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  ForEach(text, [&](std::string_view bytes, const Character& character) {
    if (bytes.size() > 1 && IsControl(character.code)) {
      absl::StrAppendFormat(&escaped, "\\u%04x", character.code);
    } else if (bytes.size() > 1) {
      escaped.append(bytes);
    } else {
      escaped.append(absl::Utf8SafeCEscape({bytes.data(), bytes.size()}));
    }
  });
  return escaped;
}

std::string Quoted(std::string_view text) { return "\"" + Escaped(text) + "\""; }

}  // namespace epsledger::accounting
