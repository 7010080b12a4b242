#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_

// Which heads of ledgers a client may bring back.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/command.h"
#include "server/core/incarnation.h"
#include "server/core/tenant.h"

namespace epsledger::transport {

// The tag of a head says that a server with this key gave it out as that of the budget's ledger,
// and in which incarnation. Only such a head can prove that a ledger has lost entries: what anybody
// could write would let any client stop a ledger. Servers have the same key if they have the same
// statement key. Thread-safe.
class HeadKey {
 public:
  // `incarnations` as of core::DurableLedger; without one tags name none. `former`: secrets of keys
  // that were this one's before: tags made with them are good, and none is made. REQUIRES: 32 bytes
  // each, that nobody else has.
  HeadKey(std::string_view secret, std::vector<core::Incarnation> incarnations,
          const std::vector<std::string>& former = {});

  // 24 bytes: HMAC-SHA-256 (RFC 2104) of tenant, budget, sequence number, hash and the next eight
  // bytes, the first half of it; and eight bytes of the incarnation's id.
  std::string TagOf(const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                    std::string_view hash) const;

  // Sets what the head says of its incarnation, and is_authentic. A head without its hash is no
  // authentic one. Tags of 16 bytes, which name no incarnation, are good too.
  void Check(const core::Tenant& tenant, std::string_view tag, core::SeenHead* head) const;

 private:
  // A secret as the two hashes of HMAC begin with it, 64 bytes each.
  struct Secret {
    std::string inner;
    std::string outer;
  };
  static Secret SecretOf(std::string_view bytes);
  static std::string TagIn(const Secret& secret, std::string_view incarnation,
                           const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                           std::string_view hash);
  std::string Describe(std::string_view incarnation) const;

  std::vector<Secret> secrets_;  // the present one first
  const std::vector<core::Incarnation> incarnations_;
  std::string present_;  // in tags; empty: none
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
