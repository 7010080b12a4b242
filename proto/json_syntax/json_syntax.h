#ifndef EPSLEDGER_PROTO_JSON_SYNTAX_JSON_SYNTAX_H_
#define EPSLEDGER_PROTO_JSON_SYNTAX_JSON_SYNTAX_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace epsledger::json_syntax {

// The largest depth of nested objects and arrays. Each of 16 nested events needs four levels.
inline constexpr int kMaxDepth = 80;

// Returns OK if `text` is exactly one JSON object of RFC 8259: quoted keys, no trailing comma, no
// text after it, valid UTF-8, at most kMaxDepth levels, and no key twice in one object. The two
// spellings "noise_multiplier" and "noiseMultiplier" are the same key, and escapes are decoded
// before keys are compared. The JSON reader of protobuf
// accepts texts that break these rules, and takes the last of two values, which is a guess.
//
// Otherwise returns INVALID_ARGUMENT "not JSON at column 17: want ':' after a key". Cost: linear in
// the text. If `id` is not null, it is set to the member "id" of the object if that is a plain
// string and could be read, even if an error follows it in the text.
absl::Status CheckObject(std::string_view text, std::string* id);

}  // namespace epsledger::json_syntax

#endif  // EPSLEDGER_PROTO_JSON_SYNTAX_JSON_SYNTAX_H_
