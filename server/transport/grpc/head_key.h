#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_

// Decides which ledger heads from clients count as evidence.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/command.h"
#include "server/core/incarnation.h"
#include "server/core/tenant.h"

namespace epsledger::transport {

// The tag of a head proves that a server with this key issued it as the head of the budget's
// ledger, and in which incarnation. Only such a head can prove that a ledger has lost entries:
// otherwise any client could stop a ledger with a made-up head. Servers have the same key if they
// have the same statement key. Thread-safe.
class HeadKey {
 public:
  // `incarnations`: those of core::DurableLedger; if empty, tags name none. `former`: secrets of
  // former keys; tags made with them are valid, but no new ones are made. REQUIRES: each secret has
  // 32 bytes that nobody else knows.
  HeadKey(std::string_view secret, std::vector<core::Incarnation> incarnations,
          const std::vector<std::string>& former = {});

  // Returns 24 bytes: the first half of HMAC-SHA-256 (RFC 2104) of tenant, budget, sequence number,
  // hash and the next eight bytes; then eight bytes of the incarnation's id.
  std::string TagOf(const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                    std::string_view hash) const;

  // Sets the head's incarnation and is_authentic. A head without its hash is not authentic. Tags of
  // 16 bytes, which name no incarnation, are valid too.
  void Check(const core::Tenant& tenant, std::string_view tag, core::SeenHead* head) const;

 private:
  // A secret in the two forms with which the hashes of HMAC begin, 64 bytes each.
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

// Sets the tag of an answer that contains the sequence number and the hash of an entry.
template <class Message>
void AddHeadTag(const HeadKey& key, const core::Tenant& tenant, std::string_view budget_id,
                Message* message) {
  if (message->sequence() < 1) return;  // nothing was written
  message->set_head_tag(key.TagOf(tenant, budget_id, message->sequence(), message->hash()));
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HEAD_KEY_H_
