#include "server/core/incarnation.h"

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace epsledger::core {

std::string ShortId(const IncarnationId& id) {
  constexpr size_t kBytes = 8;
  return std::string(reinterpret_cast<const char*>(id.data()), kBytes);
}

std::string ToHex(const IncarnationId& id) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(id.data()), id.size()));
}

}  // namespace epsledger::core
