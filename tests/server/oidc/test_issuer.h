#ifndef EPSLEDGER_TESTS_SERVER_OIDC_TEST_ISSUER_H_
#define EPSLEDGER_TESTS_SERVER_OIDC_TEST_ISSUER_H_

// An issuer of tokens: its keys, and the tokens that it signs with them, honest or not.

#include <cjose/cjose.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include "gtest/gtest.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace epsledger::oidc {

inline std::string Base64Url(std::string_view bytes) {
  std::string text;
  absl::WebSafeBase64Escape(absl::string_view(bytes.data(), bytes.size()), &text);
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

// A key pair of an issuer.
class TestKey {
 public:
  static TestKey Rsa(const std::string& kid, size_t bits = 2048) {
    const uint8_t exponent[] = {1, 0, 1};
    cjose_err error{};
    return TestKey(cjose_jwk_create_RSA_random(bits, exponent, sizeof exponent, &error), kid);
  }
  static TestKey Curve(const std::string& kid, cjose_jwk_ec_curve curve) {
    cjose_err error{};
    return TestKey(cjose_jwk_create_EC_random(curve, &error), kid);
  }
  // Returns a symmetric key: a secret that both ends know.
  static TestKey Shared(const std::string& kid, const std::string& secret) {
    cjose_err error{};
    return TestKey(cjose_jwk_create_oct_spec(reinterpret_cast<const uint8_t*>(secret.data()),
                                             secret.size(), &error),
                   kid);
  }

  // Returns the key as a member of a JWK set.
  nlohmann::json Json(bool with_private = false) const {
    cjose_err error{};
    char* text = cjose_jwk_to_json(key_.get(), with_private, &error);
    nlohmann::json json = nlohmann::json::parse(text);
    std::free(text);
    json["kid"] = kid_;
    return json;
  }
  const std::string& kid() const { return kid_; }

  // Returns a token with this header, in addition to "alg" and "kid".
  std::string Sign(const std::string& algorithm, const std::string& claims,
                   const std::vector<std::pair<std::string, std::string>>& header = {}) const {
    cjose_err error{};
    cjose_header_t* protected_header = cjose_header_new(&error);
    cjose_header_set(protected_header, "alg", algorithm.c_str(), &error);
    cjose_header_set(protected_header, "kid", kid_.c_str(), &error);
    for (const auto& [name, value] : header) {
      cjose_header_set(protected_header, name.c_str(), value.c_str(), &error);
    }
    cjose_jws_t* signature =
        cjose_jws_sign(key_.get(), protected_header,
                       reinterpret_cast<const uint8_t*>(claims.data()), claims.size(), &error);
    cjose_header_release(protected_header);
    EXPECT_NE(signature, nullptr) << error.message;
    if (signature == nullptr) return "";
    const char* compact = nullptr;
    EXPECT_TRUE(cjose_jws_export(signature, &compact, &error));
    std::string token(compact);
    cjose_jws_release(signature);
    return token;
  }

 private:
  struct Release {
    void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
  };
  TestKey(cjose_jwk_t* key, std::string kid) : key_(key), kid_(std::move(kid)) {}

  std::unique_ptr<cjose_jwk_t, Release> key_;
  std::string kid_;
};

inline std::string SetOf(const std::vector<nlohmann::json>& keys) {
  return nlohmann::json{{"keys", keys}}.dump();
}

}  // namespace epsledger::oidc

#endif  // EPSLEDGER_TESTS_SERVER_OIDC_TEST_ISSUER_H_
