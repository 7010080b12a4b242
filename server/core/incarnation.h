#ifndef EPSLEDGER_SERVER_CORE_INCARNATION_H_
#define EPSLEDGER_SERVER_CORE_INCARNATION_H_

#include <array>
#include <cstdint>
#include <string>

namespace epsledger::core {

using IncarnationId = std::array<uint8_t, 16>;

// One life of stored ledgers. A new incarnation begins when charges may have been lost, or may be
// accepted in two places: with a copy, a restored backup or an accepted loss.
struct Incarnation {
  IncarnationId id{};
  int64_t begin_seconds = 0;  // since 1970
  std::string reason;         // why it began
};

// Returns the first eight bytes: enough to distinguish the incarnations of a store.
std::string ShortId(const IncarnationId& id);

// Returns 32 lower-case hexadecimal digits.
std::string ToHex(const IncarnationId& id);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_INCARNATION_H_
