#ifndef EPSLEDGER_SERVER_PRINTABLE_H_
#define EPSLEDGER_SERVER_PRINTABLE_H_

#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace epsledger {

// Returns `text` with terminal control bytes written as \xNN. Newlines and tabs stay. A damaged
// file may contain any bytes.
inline std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    const bool commands = (value < 0x20 && byte != '\n' && byte != '\t') || value == 0x7f;
    if (commands) {
      absl::StrAppendFormat(&printable, "\\x%02x", value);
    } else {
      printable.push_back(byte);
    }
  }
  return printable;
}

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_PRINTABLE_H_
