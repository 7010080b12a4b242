#ifndef EPSLEDGER_SERVER_CORE_SHA256_H_
#define EPSLEDGER_SERVER_CORE_SHA256_H_

#include <initializer_list>
#include <string_view>

#include "server/core/entry.h"

namespace epsledger::core {

// Returns the SHA-256 of the concatenated parts. Ends the process if OpenSSL cannot compute it,
// because nothing could be verified then. Thread-safe.
Hash Sha256(std::initializer_list<std::string_view> parts);

inline std::string_view BytesOf(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_SHA256_H_
