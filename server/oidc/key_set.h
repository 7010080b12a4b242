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

// The public signing keys of an issuer, each with its algorithms. RFC 7517, RFC 7518: RSA of 2,048
// bits or more with RS256, RS384, RS512, PS256, PS384, PS512; P-256 with ES256, P-384 with ES384,
// P-521 with ES512. Nothing else is accepted: not "none", and no shared key (HS256), which would
// turn a public key into a secret.
class KeySet {
 public:
  // Parses a JWK set, {"keys": [...]}. Leaves out keys for other uses, of other kinds and without a
  // "kid". INVALID_ARGUMENT if it is not such a set, no key is left, a kid occurs twice, or a
  // private key is among them.
  static absl::StatusOr<KeySet> Parse(std::string_view json);
  // Returns the valid keys, possibly none, of a set for which Parse returns an error. Keys that are
  // not in the set have been withdrawn, whatever else is wrong with it. INVALID_ARGUMENT if it is
  // not a JWK set.
  static absl::StatusOr<KeySet> ParseWhatIsRight(std::string_view json);

  KeySet(KeySet&&) noexcept;
  KeySet& operator=(KeySet&&) noexcept;
  ~KeySet();

  bool Has(std::string_view kid) const { return Find(kid) != nullptr; }
  // Returns OK if `compact`, a JWS in compact form, is signed by the key `kid` with the algorithm.
  // REQUIRES: its header names both; one caller at a time. Cost: 30 us for RSA, 100 us for a curve.
  absl::Status Verify(const std::string& compact, std::string_view kid,
                      std::string_view algorithm) const;

 private:
  struct Key;
  KeySet();
  // Returns a key of the set, or nullopt if the key is to be left out. INVALID_ARGUMENT if it is
  // wrong.
  template <class Json>
  static absl::StatusOr<std::optional<Key>> KeyOf(const Json& member);
  const Key* Find(std::string_view kid) const;

  std::vector<Key> keys_;
};

// A real set has a few keys, including future ones.
inline constexpr size_t kMaxKeys = 100;

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_KEY_SET_H_
