#ifndef EPSLEDGER_ACCOUNTING_EVENT_PRINTABLE_H_
#define EPSLEDGER_ACCOUNTING_EVENT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace epsledger::accounting {

// Texts of strangers, UTF-8, as people are shown them: on a terminal, in a signed statement.
//
// A character is a control if it moves the cursor, ends the line or turns the writing around it:
// C0, DEL and C1 (U+0000 to U+001F, U+007F to U+009F), the separators U+2028 and U+2029, and the
// embeddings, overrides and isolates of the bidirectional algorithm (U+202A to U+202E, U+2066 to
// U+2069; CVE-2021-42574). Bytes that are no UTF-8 are taken as they are, but for a lone C1 byte.

// True if the text has no control.
bool IsPrintable(std::string_view text);
// One '?' for each control.
std::string Printable(std::string_view text);
// As a literal: controls, quotes and backslashes are escaped, "\n", "\033", "\u202e".
std::string Escaped(std::string_view text);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_PRINTABLE_H_
