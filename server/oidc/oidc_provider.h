#ifndef EPSLEDGER_SERVER_OIDC_OIDC_PROVIDER_H_
#define EPSLEDGER_SERVER_OIDC_OIDC_PROVIDER_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/identity_provider.h"
#include "server/oidc/claim_rules.h"
#include "server/oidc/document_source.h"
#include "server/oidc/key_set.h"

namespace epsledger::oidc {

struct OidcOptions {
  std::string issuer;    // the claim iss, byte for byte
  std::string audience;  // in the claim aud
  std::string keys;      // the issuer's JWK set: a file or an https URL
  std::string rules_file;

  // Returns true if any field is set. Then all must be set.
  bool IsSaid() const {
    return !issuer.empty() || !audience.empty() || !keys.empty() || !rules_file.empty();
  }
};

// Identifies callers by the tokens of an OpenID Connect issuer: JSON web tokens that it signed for
// this service, and rules for their claims (claim_rules.h).
//
// Keys and rules are read again while the server runs: a file within kFileInterval of its change, a
// URL every kUrlInterval, and at most kUnknownKeyInterval after a token that names an unknown key.
// So the provider learns new keys of the issuer and forgets withdrawn ones. If a document cannot be
// read or is wrong, the previous one stays in use and a line is logged; keys that could not be read
// for kMaxKeyAge are no longer accepted. Thread-safe: a token that was checked before never waits
// while the signature of another token is checked.
class OidcProvider final : public access::IdentityProvider {
 public:
  // Returns INVALID_ARGUMENT for wrong rules and for a key file that is missing or wrong. A URL
  // that does not answer is tried again; until it answers, tokens cannot be checked.
  static absl::StatusOr<std::unique_ptr<OidcProvider>> Start(const OidcOptions& options);
  ~OidcProvider() override;

  bool MayBeOurs(std::string_view token) const override;
  // Cost: a hash of the token if it was checked before; otherwise a signature check.
  absl::StatusOr<access::Caller> CallerOf(std::string_view token, absl::Time now) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Known {
    access::Caller caller;
    absl::Time begin;
    absl::Time end;
  };

  OidcProvider(OidcOptions options, DocumentSource keys, DocumentSource rules);
  // Read the rules and the keys again, if they have changed.
  absl::Status ReadRules() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ReadKeys() ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepReading() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Known> Check(std::string_view token, absl::Time now, const KeySet& keys,
                              const ClaimRules& rules) ABSL_LOCKS_EXCLUDED(mutex_, verify_mutex_);

  const OidcOptions options_;
  const DocumentSource keys_source_;
  const DocumentSource rules_source_;
  // Only the reading thread uses these.
  std::string keys_text_;
  absl::Status keys_status_;  // of parsing that
  std::string rules_text_;

  std::atomic<bool> stopping_{false};
  absl::Mutex mutex_;
  std::shared_ptr<const KeySet> keys_ ABSL_GUARDED_BY(mutex_);           // nullptr: not read yet
  absl::Time keys_time_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // of the last good read
  std::shared_ptr<const ClaimRules> rules_ ABSL_GUARDED_BY(mutex_);
  bool unknown_key_came_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Known> known_ ABSL_GUARDED_BY(mutex_);  // by the SHA-256 of the token
  absl::Mutex verify_mutex_;  // KeySet::Verify is for one caller at a time
  std::thread reader_;
};

inline constexpr absl::Duration kFileInterval = absl::Seconds(2);
inline constexpr absl::Duration kUrlInterval = absl::Minutes(5);
inline constexpr absl::Duration kUnknownKeyInterval = absl::Seconds(10);
inline constexpr absl::Duration kMaxKeyAge = absl::Hours(24);
// The number of checked tokens that are remembered: a few hundred bytes each.
inline constexpr size_t kMaxKnownTokens = 4'096;

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_SERVER_OIDC_OIDC_PROVIDER_H_
