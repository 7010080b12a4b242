#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_

// Which heads of ledgers a client may bring back.

#include <cstdint>
#include <string>
#include <string_view>

#include "server/core/command.h"
#include "server/core/tenant.h"

namespace epsledger::transport {

// The tag of a head says that a server with this key gave it out as that of the budget's ledger.
// Only such a head can prove that a ledger has lost entries: what anybody could write would let any
// client stop a ledger. Servers have the same key if they have the same statement key. Thread-safe.
class HeadKey {
 public:
  // REQUIRES: 32 bytes that nobody else has.
  explicit HeadKey(std::string_view secret);

  // 16 bytes: HMAC-SHA-256 (RFC 2104) of tenant, budget, sequence number and hash, the first half.
  std::string TagOf(const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                    std::string_view hash) const;

  // Sets is_authentic. A head without its hash is none.
  void Check(const core::Tenant& tenant, std::string_view tag, core::SeenHead* head) const;

 private:
  // The secret as the two hashes of HMAC begin with it, 64 bytes each.
  std::string inner_;
  std::string outer_;
};

// Sets the tag of an answer that has the sequence number and the hash of an entry.
template <class Message>
void AddHeadTag(const HeadKey& key, const core::Tenant& tenant, std::string_view budget_id,
                Message* message) {
  if (message->sequence() < 1) return;  // nothing was written
  message->set_head_tag(key.TagOf(tenant, budget_id, message->sequence(), message->hash()));
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_
