// Stored entries: whatever decodes is canonical, and a ledger survives applying it.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/core/codec.h"
#include "server/core/ledger.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epsledger::core;  // NOLINT: one function
  std::string content(reinterpret_cast<const char*>(data), size);
  const Hash hash = ChainHash(Hash{}, content);
  const absl::StatusOr<Entry> entry = DecodeEntry(content, hash);
  if (!entry.ok()) return 0;
  if (EncodeContent(entry->sequence, entry->time_micros, entry->body) != content) std::abort();
  Ledger ledger;
  const bool applied = ledger.Apply(*entry).ok();
  // Only a root budget can be the first entry of a ledger.
  if (applied != (ledger.head().sequence == 1)) std::abort();
  if (applied && ledger.root_id().empty()) std::abort();
  return 0;
}
