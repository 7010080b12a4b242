#include "server/heads/signed_heads.h"

#include <openssl/evp.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "accounting/event/status_macros.h"

namespace epsledger::heads {
namespace {

constexpr std::string_view kSignature = R"(,"signature":")";
constexpr size_t kSignatureBytes = 64;
constexpr size_t kHashBytes = 32;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

template <class Bytes>
std::string Hex(const Bytes& bytes) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// Returns the bytes of exactly `size` pairs of lower-case digits; empty for anything else.
std::string Unhex(std::string_view digits, size_t size) {
  const bool is_hex =
      digits.size() == 2 * size && digits.find_first_not_of("0123456789abcdef") == digits.npos;
  return is_hex ? absl::HexStringToBytes(View(digits)) : std::string();
}

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

bool IsSigned(std::string_view message, std::string_view signature, std::string_view public_key) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Unsigned(public_key),
                                  public_key.size()),
      &EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  return key != nullptr && digest != nullptr && signature.size() == kSignatureBytes &&
         EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), Unsigned(signature), signature.size(), Unsigned(message),
                          message.size()) == 1;
}

absl::Status Damaged(const char* what) { return absl::DataLossError(absl::StrCat("it ", what)); }

}  // namespace

absl::StatusOr<std::string> Sign(const Heads& heads, const statement::SigningKey& key) {
  nlohmann::ordered_json json;
  json["epsledgerHeads"] = 1;
  json["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", heads.time, absl::UTCTimeZone());
  json["incarnation"] = core::ToHex(heads.incarnation);
  nlohmann::ordered_json& entries = json["heads"] = nlohmann::ordered_json::array();
  for (const core::NamedEntry& entry : heads.entries) {
    nlohmann::ordered_json& head = entries.emplace_back();
    head["ledger"] = entry.root_id;
    head["sequence"] = entry.sequence;
    head["hash"] = Hex(entry.hash);
  }
  json["publicKey"] = Hex(key.public_key());
  std::string line = json.dump();
  ASSIGN_OR_RETURN(const std::string signature, key.Sign(line));
  line.pop_back();
  absl::StrAppend(&line, View(kSignature), Hex(signature), "\"}");
  return line;
}

absl::StatusOr<Heads> Verify(std::string_view line, std::string_view public_key) {
  const size_t at = line.rfind(kSignature);
  constexpr std::string_view kEnd = "\"}";
  if (at == line.npos || line.size() < at + kSignature.size() + kEnd.size() ||
      line.substr(line.size() - kEnd.size()) != kEnd) {
    return Damaged("is not a line of published heads");
  }
  const std::string_view digits =
      line.substr(at + kSignature.size(), line.size() - kEnd.size() - at - kSignature.size());
  const std::string content = std::string(line.substr(0, at)) + "}";
  if (!IsSigned(content, Unhex(digits, kSignatureBytes), public_key)) {
    return Damaged("was changed, or another key signed it");
  }
  // Sign wrote this text, since the key signed it.
  const auto json = nlohmann::json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || json.value("epsledgerHeads", 0) != 1) {
    return Damaged("is of another version");
  }
  Heads heads;
  std::string error;
  const std::string id = Unhex(json.value("incarnation", ""), heads.incarnation.size());
  if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E*SZ", json.value("time", ""), &heads.time, &error) ||
      id.empty() || !json.contains("heads") || !json["heads"].is_array()) {
    return Damaged("is of another version");
  }
  std::memcpy(heads.incarnation.data(), id.data(), id.size());
  for (const auto& head : json["heads"]) {
    if (!head.is_object()) return Damaged("is of another version");
    core::NamedEntry entry{head.value("ledger", ""), head.value("sequence", int64_t{0}),
                           Unhex(head.value("hash", ""), kHashBytes),
                           core::ShortId(heads.incarnation)};
    if (entry.root_id.empty() || entry.sequence < 1 || entry.hash.empty()) {
      return Damaged("is of another version");
    }
    heads.entries.push_back(std::move(entry));
  }
  return heads;
}

}  // namespace epsledger::heads
