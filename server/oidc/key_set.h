#ifndef EPSLEDGER_SERVER_OIDC_KEY_SET_H_
#define EPSLEDGER_SERVER_OIDC_KEY_SET_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::oidc {

// The public keys of an issuer that sign, each with what it may sign with. RFC 7517, RFC 7518: RSA
// of 2,048 bits or more with RS256, RS384, RS512, PS256, PS384, PS512; P-256 with ES256, P-384 with
// ES384, P-521 with ES512. Nothing else: no "none", and no key that both ends know (HS256), which
// would make of a public key a secret.
class KeySet {
 public:
  // A JWK set, {"keys": [...]}. Keys for other uses, of other kinds and without a "kid" are left
  // out. INVALID_ARGUMENT if it is no such set, no key is left, a kid is there twice, or a private
  // key is among them.
  static absl::StatusOr<KeySet> Parse(std::string_view json);
  // The keys of a set for which Parse has an error that are as they should be: maybe none. What is
  // not in it has been withdrawn, whatever else is wrong with the set. INVALID_ARGUMENT if it is no
  // such set.
  static absl::StatusOr<KeySet> ParseWhatIsRight(std::string_view json);

  KeySet(KeySet&&) noexcept;
  KeySet& operator=(KeySet&&) noexcept;
  ~KeySet();

  bool Has(std::string_view kid) const { return Find(kid) != nullptr; }
  // OK if `compact`, a JWS in compact form, is signed by the key `kid` with the algorithm.
  // REQUIRES: its header names the two. Cost: 30 us for RSA, 100 us for a curve. One caller at a
  // time.
  absl::Status Verify(const std::string& compact, std::string_view kid,
                      std::string_view algorithm) const;

 private:
  struct Key;
  KeySet();
  // A key of the set; nothing if it is to be left out. INVALID_ARGUMENT if it is wrong.
  template <class Json>
  static absl::StatusOr<std::optional<Key>> KeyOf(const Json& member);
  const Key* Find(std::string_view kid) const;

  std::vector<Key> keys_;
};

// A set has a few keys, some of them to come.
inline constexpr size_t kMaxKeys = 100;

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_KEY_SET_H_
