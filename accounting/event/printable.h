#ifndef EPSLEDGER_ACCOUNTING_EVENT_PRINTABLE_H_
#define EPSLEDGER_ACCOUNTING_EVENT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace epsledger::accounting {

// Makes untrusted UTF-8 texts safe to show to people: on a terminal, in a signed statement.
//
// A character is a control if it moves the cursor, ends the line or changes the direction of the
// text around it: C0, DEL and C1 (U+0000 to U+001F, U+007F to U+009F), the separators U+2028 and
// U+2029, and the embeddings, overrides and isolates of the bidirectional algorithm (U+202A to
// U+202E, U+2066 to U+2069; CVE-2021-42574). Bytes that are not UTF-8 are kept, except a lone C1
// byte, which is a control.

// True if the text contains no control.
bool IsPrintable(std::string_view text);
// Replaces each control by one '?'.
std::string Printable(std::string_view text);
// Returns the text as a literal: controls, quotes and backslashes are escaped, "\n", "\033",
// "\u202e".
std::string Escaped(std::string_view text);
// Returns Escaped(text) in quotes: it cannot be taken for the words around it.
std::string Quoted(std::string_view text);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_PRINTABLE_H_
