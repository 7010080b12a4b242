#include "server/oidc/key_set.h"

#include <cjose/cjose.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::oidc {
namespace {

using nlohmann::json;

constexpr size_t kMinRsaBits = 2048;

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("key set: ", what));
}

// Returns the text of a key's member; empty if it is missing or not a text.
std::string MemberText(const json& key, const char* member) {
  const auto found = key.find(member);
  return found != key.end() && found->is_string() ? found->get<std::string>() : "";
}

struct ReleaseSignature {
  void operator()(cjose_jws_t* signature) const { cjose_jws_release(signature); }
};

// Returns the algorithms of a key.
std::vector<std::string> AlgorithmsOf(const json& key) {
  const std::string kind = MemberText(key, "kty");
  const std::string curve = MemberText(key, "crv");
  std::vector<std::string> algorithms;
  if (kind == "RSA") {
    algorithms = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"};
  } else if (kind == "EC" && curve == "P-256") {
    algorithms = {"ES256"};
  } else if (kind == "EC" && curve == "P-384") {
    algorithms = {"ES384"};
  } else if (kind == "EC" && curve == "P-521") {
    algorithms = {"ES512"};
  }
  // The set may restrict the key to one of them.
  const std::string only = MemberText(key, "alg");
  if (only.empty()) return algorithms;
  const bool is_one = std::find(algorithms.begin(), algorithms.end(), only) != algorithms.end();
  return is_one ? std::vector<std::string>{only} : std::vector<std::string>();
}

absl::StatusOr<json> KeysIn(std::string_view text) {
  if (absl::Status syntax = json_syntax::CheckObject(text, nullptr); !syntax.ok()) {
    return Wrong(std::string(syntax.message()));
  }
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto list = object.is_object() ? object.find("keys") : object.end();
  if (list == object.end() || !list->is_array() || list->size() > kMaxKeys) {
    return Wrong(absl::StrCat("want {\"keys\": [...]} with at most ", kMaxKeys));
  }
  return std::move(*list);
}

}  // namespace

struct KeySet::Key {
  struct Release {
    void operator()(cjose_jwk_t* raw) const { cjose_jwk_release(raw); }
  };
  using Pointer = std::unique_ptr<cjose_jwk_t, Release>;

  std::string kid;
  std::vector<std::string> algorithms;
  Pointer key;
};

KeySet::KeySet() = default;
KeySet::KeySet(KeySet&&) noexcept = default;
KeySet& KeySet::operator=(KeySet&&) noexcept = default;
KeySet::~KeySet() = default;

const KeySet::Key* KeySet::Find(std::string_view kid) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.kid == kid; });
  return found == keys_.end() ? nullptr : &*found;
}

template <class Json>
absl::StatusOr<std::optional<KeySet::Key>> KeySet::KeyOf(const Json& member) {
  if (!member.is_object()) return Wrong("a key is no object");
  if (member.contains("d") || member.contains("k")) {
    return Wrong(
        "it holds a private or shared key: whoever reads it can make tokens. Want the public keys "
        "alone");
  }
  const std::string kid = MemberText(member, "kid");
  const std::string use = MemberText(member, "use");
  std::vector<std::string> algorithms = AlgorithmsOf(member);
  if (kid.empty() || algorithms.empty() || (!use.empty() && use != "sig")) return std::nullopt;
  const std::string one = member.dump();
  cjose_err error{};
  Key::Pointer key(cjose_jwk_import(one.data(), one.size(), &error));
  if (key == nullptr) return Wrong(absl::StrCat("the key \"", kid, "\" does not parse"));
  if (MemberText(member, "kty") == "RSA" &&
      cjose_jwk_get_keysize(key.get(), &error) < kMinRsaBits) {
    return Wrong(absl::StrCat("the key \"", kid, "\" is shorter than ", kMinRsaBits, " bits"));
  }
  return Key{kid, std::move(algorithms), std::move(key)};
}

absl::StatusOr<KeySet> KeySet::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(const json list, KeysIn(text));
  KeySet set;
  for (const json& member : list) {
    ASSIGN_OR_RETURN(std::optional<Key> key, KeyOf(member));
    if (!key.has_value()) continue;
    if (set.Has(key->kid)) {
      return Wrong(absl::StrCat("the kid \"", key->kid, "\" is there twice"));
    }
    set.keys_.push_back(*std::move(key));
  }
  if (set.keys_.empty()) {
    return Wrong(
        "it holds no key that can be used: want RSA, or EC on P-256, P-384 or P-521, with "
        "a kid");
  }
  return set;
}

absl::StatusOr<KeySet> KeySet::ParseWhatIsRight(std::string_view text) {
  ASSIGN_OR_RETURN(const json list, KeysIn(text));
  std::map<std::string, int> times;
  for (const json& member : list) {
    if (member.is_object()) ++times[MemberText(member, "kid")];
  }
  KeySet set;
  for (const json& member : list) {
    absl::StatusOr<std::optional<Key>> key = KeyOf(member);
    if (!key.ok() || !key->has_value() || times[(*key)->kid] > 1) continue;
    set.keys_.push_back(**std::move(key));
  }
  return set;
}

absl::Status KeySet::Verify(const std::string& compact, std::string_view kid,
                            std::string_view algorithm) const {
  const Key* key = Find(kid);
  if (key == nullptr) return absl::UnauthenticatedError("its key is not one of the issuer's");
  if (std::find(key->algorithms.begin(), key->algorithms.end(), algorithm) ==
      key->algorithms.end()) {
    return absl::UnauthenticatedError("its key does not sign with its algorithm");
  }
  cjose_err error{};
  const std::unique_ptr<cjose_jws_t, ReleaseSignature> signature(
      cjose_jws_import(compact.data(), compact.size(), &error));
  if (signature == nullptr || !cjose_jws_verify(signature.get(), key->key.get(), &error)) {
    return absl::UnauthenticatedError("its signature is not that of the issuer's key");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::oidc
