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
  // Returns a new key that is not stored.
  static absl::StatusOr<SigningKey> Generate();

  // Returns the key in the PEM file `path` (PKCS #8). Creates it with mode 0600 if the file does
  // not exist. FAILED_PRECONDITION if others than the owner may read or write the file, or it
  // contains no Ed25519 key; UNAVAILABLE if it can be neither read nor created.
  static absl::StatusOr<SigningKey> LoadOrCreate(const std::string& path);

  // Does the same for a file that must exist: otherwise UNAVAILABLE.
  static absl::StatusOr<SigningKey> Load(const std::string& path);

  // Returns 64 bytes. INTERNAL if OpenSSL fails.
  absl::StatusOr<std::string> Sign(std::string_view message) const;

  // True if this key made the signature. Signs nothing: a caller learns nothing about the signature
  // of a message that was not signed.
  bool Verifies(std::string_view message, std::string_view signature) const;

  // Returns 32 bytes, different for each purpose, that only an owner of this key can compute:
  // HMAC-SHA-256 of the purpose. INTERNAL if OpenSSL fails.
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
