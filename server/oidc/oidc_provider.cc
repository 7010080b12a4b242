#include "server/oidc/oidc_provider.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "accounting/event/status_macros.h"
#include "server/access/secret.h"
#include "server/oidc/jwt.h"
#include "spdlog/spdlog.h"

namespace epsledger::oidc {
namespace {

absl::Status Unauthenticated(const absl::Status& why) {
  return absl::UnauthenticatedError(
      absl::StrCat("the issuer's token is not taken: ", std::string(why.message())));
}

// Logs when something begins to fail and when the failure ends.
class Failing {
 public:
  explicit Failing(const char* what) : what_(what) {}

  void Note(const absl::Status& status) {
    const bool was_failing = std::exchange(is_failing_, !status.ok());
    if (!status.ok() && !was_failing) {
      spdlog::error("{}: those before stay: {}", what_, std::string(status.message()));
    } else if (status.ok() && was_failing) {
      spdlog::info("{}: read again", what_);
    }
  }

 private:
  const char* const what_;
  bool is_failing_ = false;
};

}  // namespace

OidcProvider::OidcProvider(OidcOptions options, DocumentSource keys, DocumentSource rules)
    : options_(std::move(options)),
      keys_source_(std::move(keys)),
      rules_source_(std::move(rules)) {}

absl::StatusOr<std::unique_ptr<OidcProvider>> OidcProvider::Start(const OidcOptions& options) {
  if (options.issuer.empty() || options.audience.empty() || options.keys.empty() ||
      options.rules_file.empty()) {
    return absl::InvalidArgumentError(
        "--oidc-issuer, --oidc-audience, --oidc-keys and --oidc-rules: want all of them or none");
  }
  ASSIGN_OR_RETURN(DocumentSource keys, DocumentSource::Of("--oidc-keys", options.keys));
  ASSIGN_OR_RETURN(DocumentSource rules, DocumentSource::Of("--oidc-rules", options.rules_file));
  std::unique_ptr<OidcProvider> provider(
      new OidcProvider(options, std::move(keys), std::move(rules)));
  if (absl::Status status = provider->ReadRules(); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--oidc-rules: ", std::string(status.message())));
  }
  if (absl::Status status = provider->ReadKeys(); !status.ok()) {
    if (!provider->keys_source_.is_url() || absl::IsInvalidArgument(status)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--oidc-keys: ", std::string(status.message())));
    }
    spdlog::warn("--oidc-keys: {}: tokens of the issuer cannot be checked until it answers",
                 std::string(status.message()));
  }
  provider->reader_ = std::thread([raw = provider.get()] { raw->KeepReading(); });
  return provider;
}

OidcProvider::~OidcProvider() {
  stopping_ = true;
  {
    absl::MutexLock lock(&mutex_);  // wakes the waiting thread
  }
  if (reader_.joinable()) reader_.join();
}

absl::Status OidcProvider::ReadRules() {
  ASSIGN_OR_RETURN(std::string text, rules_source_.Read(stopping_));
  if (text == rules_text_) return absl::OkStatus();
  ASSIGN_OR_RETURN(ClaimRules rules, ClaimRules::Parse(text));
  rules_text_ = std::move(text);
  absl::MutexLock lock(&mutex_);
  rules_ = std::make_shared<const ClaimRules>(std::move(rules));
  known_.clear();
  return absl::OkStatus();
}

absl::Status OidcProvider::ReadKeys() {
  ASSIGN_OR_RETURN(std::string text, keys_source_.Read(stopping_));
  std::shared_ptr<const KeySet> keys;
  if (text != keys_text_) {
    absl::StatusOr<KeySet> parsed = KeySet::Parse(text);
    keys_status_ = parsed.status();
    if (!parsed.ok()) {
      // At the start there is nothing to withdraw.
      if (keys_text_.empty()) return parsed.status();
      // Even if the set has an error, keys that are not in it must not sign any more.
      parsed = KeySet::ParseWhatIsRight(text);
      if (!parsed.ok()) return parsed.status();
    }
    keys = std::make_shared<const KeySet>(*std::move(parsed));
    keys_text_ = std::move(text);
  }
  absl::MutexLock lock(&mutex_);
  keys_time_ = absl::Now();
  if (keys == nullptr) return keys_status_;
  keys_ = std::move(keys);
  known_.clear();
  return keys_status_;
}

void OidcProvider::KeepReading() {
  Failing failing_rules("--oidc-rules");
  Failing failing_keys("--oidc-keys");
  absl::Duration since_keys = absl::ZeroDuration();
  while (!stopping_) {
    {
      absl::MutexLock lock(&mutex_);
      const auto is_to_end = [this] { return stopping_.load(); };
      mutex_.AwaitWithTimeout(absl::Condition(&is_to_end), kFileInterval);
      since_keys += kFileInterval;
      const bool is_due =
          !keys_source_.is_url() || since_keys >= kUrlInterval ||
          (since_keys >= kUnknownKeyInterval && (unknown_key_came_ || keys_ == nullptr));
      if (stopping_) return;
      if (is_due) {
        since_keys = absl::ZeroDuration();
        unknown_key_came_ = false;
      }
    }
    failing_rules.Note(ReadRules());
    if (since_keys == absl::ZeroDuration()) failing_keys.Note(ReadKeys());
  }
}

bool OidcProvider::MayBeOurs(std::string_view token) const {
  return token.size() > 2 && token.substr(0, 2) == "ey";  // '{"' in base64url
}

absl::StatusOr<OidcProvider::Known> OidcProvider::Check(std::string_view token, absl::Time now,
                                                        const KeySet& keys,
                                                        const ClaimRules& rules) {
  absl::StatusOr<Jwt> jwt = ParseJwt(token);
  if (!jwt.ok()) return Unauthenticated(jwt.status());
  if (!keys.Has(jwt->kid)) {
    absl::MutexLock lock(&mutex_);
    unknown_key_came_ = true;
    return Unauthenticated(
        absl::UnauthenticatedError("its key is not one of the issuer's; they are read again soon"));
  }
  absl::Status status;
  {
    absl::MutexLock lock(&verify_mutex_);
    status = keys.Verify(std::string(token), jwt->kid, jwt->algorithm);
  }
  // Do not report which claims of a forged token are wrong.
  if (status.ok()) status = CheckClaims(jwt->claims, options_.issuer, options_.audience, now);
  if (!status.ok()) return Unauthenticated(status);
  absl::StatusOr<access::Caller> caller = rules.CallerOf(jwt->claims);
  if (!caller.ok()) return Unauthenticated(caller.status());
  return Known{.caller = *std::move(caller), .begin = now, .end = EndOf(jwt->claims)};
}

absl::StatusOr<access::Caller> OidcProvider::CallerOf(std::string_view token, absl::Time now) {
  const std::string hash = access::HashOfSecret(token);
  std::shared_ptr<const KeySet> keys;
  std::shared_ptr<const ClaimRules> rules;
  {
    absl::MutexLock lock(&mutex_);
    if (keys_ == nullptr || now > keys_time_ + kMaxKeyAge) {
      return absl::UnavailableError(
          "tokens of the issuer cannot be checked now: its keys could not be read");
    }
    const auto found = known_.find(hash);
    // If the clock was set back, `now` may be before the earlier check.
    if (found != known_.end() && found->second.begin <= now && now < found->second.end) {
      return found->second.caller;
    }
    keys = keys_;
    rules = rules_;
  }
  ASSIGN_OR_RETURN(Known known, Check(token, now, *keys, *rules));
  access::Caller caller = known.caller;
  absl::MutexLock lock(&mutex_);
  // Do not remember a caller whose keys or rules were withdrawn meanwhile.
  if (keys != keys_ || rules != rules_) return caller;
  if (known_.size() >= kMaxKnownTokens) known_.clear();
  known_.insert_or_assign(hash, std::move(known));
  return caller;
}

}  // namespace epsledger::oidc
