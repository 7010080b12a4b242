#include "proto/json_syntax/json_syntax.h"

#include <cstddef>
#include <set>

#include "absl/strings/str_cat.h"

namespace epsledger::json_syntax {
namespace {

// Returns the other spelling of a key that protobuf's reader accepts.
std::string InLowerCamelCase(std::string_view key) {
  std::string camel;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '_') continue;
    const bool after_underscore = i > 0 && key[i - 1] == '_';
    const bool is_small = key[i] >= 'a' && key[i] <= 'z';
    camel += after_underscore && is_small ? static_cast<char>(key[i] - 'a' + 'A') : key[i];
  }
  return camel;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Returns the length of the UTF-8 character at the start of `text`, or 0 if there is none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

uint32_t HexValue(std::string_view digits) {
  uint32_t value = 0;
  for (const char c : digits) {
    value = 16 * value + static_cast<uint32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

void AppendUtf8(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t first[] = {0, 0xc0, 0xe0, 0xf0};
  *text += static_cast<char>(first[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) {
    *text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  }
}

// Returns the text between the quotes of a string, with its escapes decoded. REQUIRES: the escapes
// are valid.
std::string Unescaped(std::string_view inside) {
  constexpr std::string_view kShort = "bfnrt";
  constexpr std::string_view kMeant = "\b\f\n\r\t";
  std::string text;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      text += inside[i];
      continue;
    }
    const char kind = inside[++i];
    if (kind != 'u') {
      const size_t known = kShort.find(kind);
      text += known == kShort.npos ? kind : kMeant[known];
      continue;
    }
    uint32_t code = HexValue(inside.substr(i + 1, 4));
    i += 4;
    // A surrogate pair: two escapes for one character.
    if (code >= 0xd800 && code < 0xdc00 && inside.substr(i + 1, 2) == "\\u") {
      const uint32_t low = HexValue(inside.substr(i + 3, 4));
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i += 6;
      }
    }
    AppendUtf8(code, &text);
  }
  return text;
}

// A recursive-descent reader that stores only the keys of the open objects.
class Checker {
 public:
  Checker(std::string_view text, std::string* id) : text_(text), id_(id) {}

  absl::Status Check() {
    SkipSpace();
    if (!At('{')) return Wrong("want an object, '{'");
    absl::Status status = Object(1);
    if (!status.ok()) return status;
    SkipSpace();
    if (next_ < text_.size()) return Wrong("want nothing after the object");
    return absl::OkStatus();
  }

 private:
  bool At(char c) const { return next_ < text_.size() && text_[next_] == c; }
  bool Take(char c) {
    if (!At(c)) return false;
    ++next_;
    return true;
  }
  void SkipSpace() {
    while (At(' ') || At('\t') || At('\n') || At('\r')) ++next_;
  }
  absl::Status Wrong(std::string_view want) const {
    return absl::InvalidArgumentError(
        absl::StrCat("not JSON at column ", next_ + 1, ": ", std::string(want)));
  }

  absl::Status Value(int depth) {
    SkipSpace();
    if (At('{')) return Object(depth + 1);
    if (At('[')) return Array(depth + 1);
    if (At('"')) return String(nullptr);
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(next_, word.size()) == word) {
        next_ += word.size();
        return absl::OkStatus();
      }
    }
    if (At('-') || (next_ < text_.size() && IsDigit(text_[next_]))) return Number();
    return Wrong("want a value");
  }

  absl::Status Object(int depth) {
    if (depth > kMaxDepth) return TooDeep();
    ++next_;  // {
    SkipSpace();
    if (Take('}')) return absl::OkStatus();
    std::set<std::string> keys;
    do {
      SkipSpace();
      if (!At('"')) return Wrong("want a key in double quotes");
      const size_t start = next_ + 1;
      absl::Status status = String(nullptr);
      if (!status.ok()) return status;
      const std::string key = Unescaped(text_.substr(start, next_ - 1 - start));
      if (!keys.insert(InLowerCamelCase(key)).second) {
        return Wrong(absl::StrCat("want the key \"", key, "\" only once"));
      }
      SkipSpace();
      if (!Take(':')) return Wrong("want ':' after a key");
      SkipSpace();
      if (depth == 1 && key == "id" && At('"')) {
        status = String(id_);
      } else {
        status = Value(depth);
      }
      if (!status.ok()) return status;
      SkipSpace();
    } while (Take(','));
    return Take('}') ? absl::OkStatus() : Wrong("want ',' or '}'");
  }

  absl::Status Array(int depth) {
    if (depth > kMaxDepth) return TooDeep();
    ++next_;  // [
    SkipSpace();
    if (Take(']')) return absl::OkStatus();
    do {
      absl::Status status = Value(depth);
      if (!status.ok()) return status;
      SkipSpace();
    } while (Take(','));
    return Take(']') ? absl::OkStatus() : Wrong("want ',' or ']'");
  }

  // `plain` gets the text if it holds no escape.
  absl::Status String(std::string* plain) {
    const size_t start = ++next_;  // "
    bool escaped = false;
    while (next_ < text_.size()) {
      const char c = text_[next_];
      if (c == '"') {
        if (plain != nullptr && !escaped) *plain = std::string(text_.substr(start, next_ - start));
        ++next_;
        return absl::OkStatus();
      }
      if (static_cast<unsigned char>(c) < 0x20) return Wrong("want control characters escaped");
      if (c == '\\') {
        escaped = true;
        absl::Status status = Escape();
        if (!status.ok()) return status;
        continue;
      }
      const size_t length = Utf8Length(text_.substr(next_));
      if (length == 0) return Wrong("want valid UTF-8");
      next_ += length;
    }
    return Wrong("want the end of a string, '\"'");
  }

  absl::Status Escape() {
    ++next_;  // backslash
    if (next_ < text_.size() && std::string_view("\"\\/bfnrt").find(text_[next_]) != text_.npos) {
      ++next_;
      return absl::OkStatus();
    }
    if (!Take('u')) return Wrong("want an escape of JSON");
    for (int i = 0; i < 4; ++i, ++next_) {
      if (next_ >= text_.size() || !IsHex(text_[next_])) return Wrong("want four hex digits");
    }
    return absl::OkStatus();
  }

  absl::Status Digits() {
    if (next_ >= text_.size() || !IsDigit(text_[next_])) return Wrong("want a digit");
    while (next_ < text_.size() && IsDigit(text_[next_])) ++next_;
    return absl::OkStatus();
  }

  absl::Status Number() {
    Take('-');
    absl::Status status = absl::OkStatus();
    if (!Take('0')) status = Digits();
    if (status.ok() && Take('.')) status = Digits();
    if (status.ok() && (At('e') || At('E'))) {
      ++next_;
      if (At('+') || At('-')) ++next_;
      status = Digits();
    }
    return status;
  }

  absl::Status TooDeep() const {
    return Wrong(absl::StrCat("want at most ", kMaxDepth, " levels"));
  }

  std::string_view text_;
  std::string* id_;
  size_t next_ = 0;
};

}  // namespace

absl::Status CheckObject(std::string_view text, std::string* id) {
  return Checker(text, id).Check();
}

}  // namespace epsledger::json_syntax
