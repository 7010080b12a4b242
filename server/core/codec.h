#ifndef EPSLEDGER_SERVER_CORE_CODEC_H_
#define EPSLEDGER_SERVER_CORE_CODEC_H_

// The canonical encoding of entries. It is hashed, stored and replayed.
//
// Every value has exactly one encoding, the same on every machine and in every store (I17):
// integers and doubles (IEEE bits) big-endian in 8 bytes, amounts in 16, enumerations, booleans
// and tags in 1, text and lists after their length in 4, optional values after a 0 or 1, variants
// after the tag of the alternative; fields in the order of Fields, without names. The first byte
// of an entry is the version of the encoding: 2 with the actor after the time, 1 without one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "server/core/command.h"
#include "server/core/entry.h"

namespace epsledger::core {

// Returns the canonical encoding of an entry. REQUIRES: events in `body` are valid.
std::string EncodeContent(int64_t sequence, int64_t time_micros, const EntryBody& body,
                          const std::optional<Actor>& actor = std::nullopt);

// Returns the entry that `content` encodes, with `hash` as given (Ledger::Apply checks it).
// DATA_LOSS if the bytes are not exactly one canonical entry of a known version. Never reads beyond
// the bytes and never recurses deeper than events may nest.
absl::StatusOr<Entry> DecodeEntry(std::string content, const Hash& hash);

// SHA-256(previous || content).
Hash ChainHash(const Hash& previous, std::string_view content);

// Returns the canonical encoding of an event. Two encodings are equal if and only if all
// mathematical fields are equal. REQUIRES: the event is valid.
std::string EncodeEvent(const accounting::MechanismEvent& event);

// Returns the canonical encoding of a proposed change. Two encodings are equal if and only if the
// changes are the same.
std::string EncodeChange(const ProposedChange& change);

// Returns the name of the first field in which the two differ, in proto3 JSON form, or "" if none.
std::string FirstDifference(const BudgetSpec& a, const BudgetSpec& b);
std::string FirstDifference(const SessionSpec& a, const SessionSpec& b);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_CODEC_H_
