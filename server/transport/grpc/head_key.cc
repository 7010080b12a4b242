#include "server/transport/grpc/head_key.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/sha256.h"

namespace epsledger::transport {
namespace {

constexpr size_t kHmacBytes = 16;
constexpr size_t kShortIdBytes = 8;  // of an incarnation
constexpr size_t kBlockBytes = 64;   // of SHA-256

void AppendNumber(uint64_t value, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

// Appends the length first, so that different lists of texts give different bytes.
void AppendText(std::string_view text, std::string* out) {
  AppendNumber(text.size(), out);
  out->append(text);
}

absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

HeadKey::Secret HeadKey::SecretOf(std::string_view bytes) {
  Secret secret{std::string(kBlockBytes, '\x36'), std::string(kBlockBytes, '\x5c')};
  for (size_t i = 0; i < bytes.size(); ++i) {
    secret.inner[i] = static_cast<char>(secret.inner[i] ^ bytes[i]);
    secret.outer[i] = static_cast<char>(secret.outer[i] ^ bytes[i]);
  }
  return secret;
}

HeadKey::HeadKey(std::string_view secret, std::vector<core::Incarnation> incarnations,
                 const std::vector<std::string>& former)
    : incarnations_(std::move(incarnations)) {
  secrets_.push_back(SecretOf(secret));
  for (const std::string& one : former) secrets_.push_back(SecretOf(one));
  if (!incarnations_.empty()) present_ = core::ShortId(incarnations_.back().id);
}

std::string HeadKey::TagIn(const Secret& secret, std::string_view incarnation,
                           const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                           std::string_view hash) {
  std::string head;
  AppendText(tenant.name, &head);
  AppendText(budget_id, &head);
  AppendNumber(static_cast<uint64_t>(sequence), &head);
  AppendText(hash, &head);
  if (!incarnation.empty()) AppendText(incarnation, &head);
  // OpenSSL's HMAC() looks up the algorithm each time, which takes longer than hashing.
  const core::Hash inside = core::Sha256({secret.inner, head});
  const core::Hash tag = core::Sha256({secret.outer, core::BytesOf(inside)});
  return std::string(core::BytesOf(tag).substr(0, kHmacBytes)).append(incarnation);
}

std::string HeadKey::TagOf(const core::Tenant& tenant, std::string_view budget_id, int64_t sequence,
                           std::string_view hash) const {
  return TagIn(secrets_.front(), present_, tenant, budget_id, sequence, hash);
}

void HeadKey::Check(const core::Tenant& tenant, std::string_view tag, core::SeenHead* head) const {
  head->is_authentic = false;
  head->other_incarnation.clear();
  head->incarnation.clear();
  head->is_known_incarnation = true;
  if (head->hash.empty()) return;
  if (tag.size() != kHmacBytes && tag.size() != kHmacBytes + kShortIdBytes) return;
  const std::string_view incarnation = tag.substr(kHmacBytes);
  for (const Secret& secret : secrets_) {
    const std::string want =
        TagIn(secret, incarnation, tenant, head->root_budget_id, head->sequence, head->hash);
    head->is_authentic |= CRYPTO_memcmp(tag.data(), want.data(), want.size()) == 0;
  }
  head->incarnation = incarnation;
  head->is_known_incarnation =
      incarnation.empty() ||
      std::any_of(incarnations_.begin(), incarnations_.end(), [&](const core::Incarnation& life) {
        return core::ShortId(life.id) == incarnation;
      });
  // Set even if the key is another one: this stops only the client that sent the head.
  if (!incarnation.empty() && incarnation != present_) {
    head->other_incarnation = Describe(incarnation);
  }
}

std::string HeadKey::Describe(std::string_view incarnation) const {
  std::string text = absl::StrCat("incarnation ", absl::BytesToHexString(AbslView(incarnation)));
  if (incarnations_.empty()) return text;
  const core::Incarnation& present = incarnations_.back();
  return absl::StrCat(
      text, " of the ledger, and this server has ", absl::BytesToHexString(AbslView(present_)),
      ", since ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixSeconds(present.begin_seconds),
                       absl::UTCTimeZone()),
      " UTC: ", present.reason);
}

}  // namespace epsledger::transport
