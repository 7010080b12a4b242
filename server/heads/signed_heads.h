#ifndef EPSLEDGER_SERVER_HEADS_SIGNED_HEADS_H_
#define EPSLEDGER_SERVER_HEADS_SIGNED_HEADS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/access_command.h"
#include "server/core/incarnation.h"
#include "server/statement/signing_key.h"

namespace epsledger::heads {

// The newest entry of every ledger of a server at one moment.
struct Heads {
  absl::Time time;
  core::IncarnationId incarnation{};      // all zero: the store has none
  std::vector<core::NamedEntry> entries;  // of that incarnation
};

// One line of JSON, without a newline: {"epsledgerHeads":1,...,"signature":"..."}. The signature,
// Ed25519 (RFC 8032), is over the bytes before `,"signature"` and a `}`. INTERNAL if OpenSSL fails.
absl::StatusOr<std::string> Sign(const Heads& heads, const statement::SigningKey& key);

// Returns the heads that Sign wrote with the key that has this public key (32 bytes). DATA_LOSS for
// anything else: a byte was changed, or another key signed the line.
absl::StatusOr<Heads> Verify(std::string_view line, std::string_view public_key);

}  // namespace epsledger::heads

#endif  // EPSLEDGER_SERVER_HEADS_SIGNED_HEADS_H_
