#ifndef EPSLEDGER_PROTO_JSON_SYNTAX_JSON_SYNTAX_H_
#define EPSLEDGER_PROTO_JSON_SYNTAX_JSON_SYNTAX_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace epsledger::json_syntax {

// Objects and arrays inside each other: 16 events inside each other need four levels each.
inline constexpr int kMaxDepth = 80;

// OK if `text` is exactly one JSON object of RFC 8259: quoted keys, no trailing comma, no text
// after it, valid UTF-8, at most kMaxDepth levels, and no key twice in one object, where the
// two spellings "noise_multiplier" and "noiseMultiplier" are one key, and an escape is what it
// stands for. The JSON reader of protobuf
// lets all of these pass, and takes the last of two values: a guess.
//
// Otherwise INVALID_ARGUMENT "not JSON at column 17: want ':' after a key". Linear in the text.
// `id`, if not null, gets the value of the member "id" of the object where it is a plain string
// and could be read, also from a text that turns out to be wrong after it.
absl::Status CheckObject(std::string_view text, std::string* id);

}  // namespace epsledger::json_syntax

#endif  // EPSLEDGER_PROTO_JSON_SYNTAX_JSON_SYNTAX_H_
