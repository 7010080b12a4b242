#ifndef EPSLEDGER_SERVER_CORE_INCARNATION_H_
#define EPSLEDGER_SERVER_CORE_INCARNATION_H_

#include <array>
#include <cstdint>
#include <string>

namespace epsledger::core {

using IncarnationId = std::array<uint8_t, 16>;

// One life of stored ledgers. Another one begins where charges may have been left behind, or may be
// taken in two places: with a copy, a restored backup or an accepted loss.
struct Incarnation {
  IncarnationId id{};
  int64_t begin_seconds = 0;  // since 1970
  std::string reason;         // why it began
};

// Its first eight bytes: enough to tell the incarnations of a store from each other.
std::string ShortId(const IncarnationId& id);

// 32 lower-case hexadecimal digits.
std::string ToHex(const IncarnationId& id);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_INCARNATION_H_
