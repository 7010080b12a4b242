#ifndef EPSLEDGER_SERVER_STATEMENT_SIGNING_KEY_H_
#define EPSLEDGER_SERVER_STATEMENT_SIGNING_KEY_H_

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::statement {

// An Ed25519 key (RFC 8032) that signs statements. Thread-safe: it never changes.
class SigningKey {
 public:
  // A new key that ends with this object.
  static absl::StatusOr<SigningKey> Generate();

  // The key in the PEM file `path` (PKCS #8). Made, with mode 0600, if there is no such file.
  // FAILED_PRECONDITION if others than the owner may read or write it, or it holds no Ed25519 key;
  // UNAVAILABLE if it can be neither read nor made.
  static absl::StatusOr<SigningKey> LoadOrCreate(const std::string& path);

  // The same of a file that must be there: otherwise UNAVAILABLE.
  static absl::StatusOr<SigningKey> Load(const std::string& path);

  // 64 bytes. INTERNAL if OpenSSL fails.
  absl::StatusOr<std::string> Sign(std::string_view message) const;

  // 32 bytes that only who has this key can make, others for each purpose: HMAC-SHA-256 of it.
  // INTERNAL if OpenSSL fails.
  absl::StatusOr<std::string> SecretFor(std::string_view purpose) const;

  // 32 bytes.
  const std::string& public_key() const { return public_key_; }

 private:
  struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

  explicit SigningKey(Key key, std::string public_key)
      : key_(std::move(key)), public_key_(std::move(public_key)) {}
  static absl::StatusOr<SigningKey> From(Key key);
  absl::Status Save(const std::string& path) const;

  Key key_;
  std::string public_key_;
};

}  // namespace epsledger::statement

#endif  // EPSLEDGER_SERVER_STATEMENT_SIGNING_KEY_H_
