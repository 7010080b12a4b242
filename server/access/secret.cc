#include "server/access/secret.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "accounting/event/status_macros.h"

namespace epsledger::access {
namespace {

constexpr std::string_view kPrefix = "epsl_";
constexpr size_t kSecretBytes = 32;
constexpr size_t kEncodedBytes = 43;
constexpr size_t kTokenIdBytes = 8;

absl::StatusOr<std::string> RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    return absl::UnavailableError("the system gives no randomness to make a secret of");
  }
  return bytes;
}

bool IsBase64Url(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

absl::StatusOr<std::string> MakeSecret() {
  ASSIGN_OR_RETURN(std::string bytes, RandomBytes(kSecretBytes));
  return std::string(kPrefix) + absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<std::string> MakeTokenId() {
  ASSIGN_OR_RETURN(std::string bytes, RandomBytes(kTokenIdBytes));
  return absl::BytesToHexString(bytes);
}

bool IsSecret(std::string_view text) {
  return text.size() == kPrefix.size() + kEncodedBytes &&
         text.substr(0, kPrefix.size()) == kPrefix &&
         std::all_of(text.begin() + kPrefix.size(), text.end(), IsBase64Url);
}

std::string HashOfSecret(std::string_view secret) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

}  // namespace epsledger::access
