#include "server/transport/grpc/head_key.h"

#include <openssl/crypto.h>

#include "server/core/sha256.h"

namespace epsledger::transport {
namespace {

constexpr size_t kTagBytes = 16;
constexpr size_t kBlockBytes = 64;  // of SHA-256

void AppendNumber(uint64_t value, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

// Its length first: no two lists of texts are the same bytes.
void AppendText(std::string_view text, std::string* out) {
  AppendNumber(text.size(), out);
  out->append(text);
}

}  // namespace

HeadKey::HeadKey(std::string_view secret)
    : inner_(kBlockBytes, '\x36'), outer_(kBlockBytes, '\x5c') {
  for (size_t i = 0; i < secret.size(); ++i) {
    inner_[i] = static_cast<char>(inner_[i] ^ secret[i]);
    outer_[i] = static_cast<char>(outer_[i] ^ secret[i]);
  }
}

std::string HeadKey::TagOf(const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                           std::string_view hash) const {
  std::string head;
  AppendText(tenant.name, &head);
  AppendText(budget_id, &head);
  AppendNumber(static_cast<uint64_t>(sequence), &head);
  AppendText(hash, &head);
  // OpenSSL's HMAC() looks for the algorithm each time, which takes longer than to hash.
  const core::Hash inside = core::Sha256({inner_, head});
  const core::Hash tag = core::Sha256({outer_, core::BytesOf(inside)});
  return std::string(core::BytesOf(tag).substr(0, kTagBytes));
}

void HeadKey::Check(const core::Tenant& tenant, std::string_view tag, core::SeenHead* head) const {
  const std::string want = TagOf(tenant, head->root_budget_id, head->sequence, head->hash);
  head->is_authentic = !head->hash.empty() && tag.size() == want.size() &&
                       CRYPTO_memcmp(tag.data(), want.data(), want.size()) == 0;
}

}  // namespace epsledger::transport
