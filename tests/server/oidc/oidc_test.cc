// Tokens of an issuer: which are taken, as whom, and every way in which one is not.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/oidc/claim_rules.h"
#include "server/oidc/document_source.h"
#include "server/oidc/jwt.h"
#include "server/oidc/key_set.h"
#include "server/oidc/oidc_provider.h"
#include "tests/server/oidc/test_issuer.h"

namespace epsledger::oidc {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kIssuer[] = "https://issuer.example/realm";
constexpr char kAudience[] = "epsledger";
const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

json GoodClaims(absl::Time now = kNow) {
  return {{"iss", kIssuer},
          {"aud", kAudience},
          {"sub", "alice"},
          {"groups", {"staff", "vision"}},
          {"iat", absl::ToUnixSeconds(now) - 10},
          {"exp", absl::ToUnixSeconds(now) + 3600}};
}

constexpr char kRules[] = R"({"rules": [
    {"claim": "groups", "value": "officers", "tenant": "acme", "role": "admin"},
    {"claim": "groups", "value": "vision", "tenant": "acme", "role": "trainer",
     "within": ["budgets/vision", "budgets/speech/sessions/first"],
     "methods": ["ChargeService.Charge", "SessionService.OpenAttempt"]},
    {"claim": "groups", "value": "staff", "tenant": "acme", "role": "viewer"},
    {"claim": "/realm/roles", "value": "auditor", "role": "VIEWER"}]})";

// Every algorithm that a key may sign with, and none that it may not.
TEST(KeySet, TakesWhatTheIssuersKeysSigned) {
  const TestKey rsa = TestKey::Rsa("r");
  const TestKey p256 = TestKey::Curve("p256", CJOSE_JWK_EC_P_256);
  const TestKey p384 = TestKey::Curve("p384", CJOSE_JWK_EC_P_384);
  const TestKey p521 = TestKey::Curve("p521", CJOSE_JWK_EC_P_521);
  const absl::StatusOr<KeySet> keys =
      KeySet::Parse(SetOf({rsa.Json(), p256.Json(), p384.Json(), p521.Json()}));
  ASSERT_TRUE(keys.ok()) << keys.status();
  const std::string claims = GoodClaims().dump();
  for (const char* algorithm : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}) {
    EXPECT_TRUE(keys->Verify(rsa.Sign(algorithm, claims), "r", algorithm).ok()) << algorithm;
  }
  EXPECT_TRUE(keys->Verify(p256.Sign("ES256", claims), "p256", "ES256").ok());
  EXPECT_TRUE(keys->Verify(p384.Sign("ES384", claims), "p384", "ES384").ok());
  EXPECT_TRUE(keys->Verify(p521.Sign("ES512", claims), "p521", "ES512").ok());
  // Another key of the same kind, another algorithm, another key's id.
  EXPECT_FALSE(keys->Verify(TestKey::Rsa("r").Sign("RS256", claims), "r", "RS256").ok());
  EXPECT_FALSE(keys->Verify(rsa.Sign("RS256", claims), "r", "HS256").ok());
  EXPECT_FALSE(keys->Verify(rsa.Sign("RS256", claims), "r", "none").ok());
  EXPECT_FALSE(keys->Verify(rsa.Sign("RS256", claims), "p256", "RS256").ok());
  EXPECT_FALSE(keys->Verify(rsa.Sign("RS256", claims), "q", "RS256").ok());
}

TEST(KeySet, OfOneAlgorithmTakesNoOther) {
  const TestKey rsa = TestKey::Rsa("r");
  json only = rsa.Json();
  only["alg"] = "PS256";
  const absl::StatusOr<KeySet> keys = KeySet::Parse(SetOf({only}));
  ASSERT_TRUE(keys.ok()) << keys.status();
  const std::string claims = GoodClaims().dump();
  EXPECT_TRUE(keys->Verify(rsa.Sign("PS256", claims), "r", "PS256").ok());
  EXPECT_FALSE(keys->Verify(rsa.Sign("RS256", claims), "r", "RS256").ok());
}

TEST(KeySet, LeavesOutWhatIsNotForSigningAndRefusesWhatIsWrong) {
  const json good = TestKey::Rsa("r").Json();
  json for_encryption = TestKey::Rsa("e").Json();
  for_encryption["use"] = "enc";
  json nameless = TestKey::Rsa("n").Json();
  nameless.erase("kid");
  const json unknown = {{"kty", "OKP"}, {"crv", "Ed25519"}, {"kid", "o"}, {"x", "AAAA"}};
  const absl::StatusOr<KeySet> keys =
      KeySet::Parse(SetOf({for_encryption, nameless, unknown, good}));
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_TRUE(keys->Has("r"));
  for (const char* kid : {"e", "n", "o", ""}) EXPECT_FALSE(keys->Has(kid)) << kid;

  json without_modulus = good;
  without_modulus.erase("n");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "key set"},
      {"[]", "key set"},
      {"{}", "want {\"keys\""},
      {R"({"keys": {}})", "want {\"keys\""},
      {R"({"keys": [], "keys": []})", "only once"},
      {R"({"keys": [7]})", "no object"},
      {SetOf({}), "no key that can be used"},
      {SetOf({for_encryption}), "no key that can be used"},
      {SetOf({good, good}), "twice"},
      {SetOf({TestKey::Rsa("short", 1024).Json()}), "shorter than 2048"},
      {SetOf({TestKey::Rsa("p").Json(/*with_private=*/true)}), "private or shared"},
      {SetOf({good, TestKey::Shared("s", std::string(32, 'x')).Json(true)}), "private or shared"},
      {SetOf({without_modulus}), "does not parse"},
      {SetOf(std::vector<json>(kMaxKeys + 1, good)), "at most 100"},
  };
  for (const auto& [text, why] : wrong) {
    const absl::StatusOr<KeySet> parsed = KeySet::Parse(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 80);
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(why));
  }
}

TEST(Jwt, ThatIsNoneIsRefused) {
  const std::string header = Base64Url(R"({"alg":"RS256","kid":"r"})");
  const std::string claims = Base64Url("{}");
  EXPECT_TRUE(ParseJwt(header + "." + claims + ".AA").ok());
  const auto of_header = [&](const std::string& text) {
    return Base64Url(text) + "." + claims + ".AA";
  };
  for (const std::string& bad : std::vector<std::string>{
           "",
           ".",
           "..",
           "...",
           header,
           header + "." + claims,
           header + "." + claims + ".",
           header + "." + claims + ".AA.AA",
           header + "=." + claims + ".AA",
           header + " ." + claims + ".AA",
           header + "." + claims + ".A+/A",
           header + "." + Base64Url("[]") + ".AA",
           header + "." + Base64Url("7") + ".AA",
           header + "." + Base64Url("{") + ".AA",
           header + "." + Base64Url(R"({"sub":"a","sub":"b"})") + ".AA",
           header + "." + Base64Url("{\"sub\":\"\xff\"}") + ".AA",
           of_header("{}"),
           of_header(R"({"alg":"RS256"})"),
           of_header(R"({"kid":"r"})"),
           of_header(R"({"alg":7,"kid":"r"})"),
           of_header(R"({"alg":"RS256","alg":"none","kid":"r"})"),
           of_header(R"({"alg":"RS256","kid":"r","crit":["exp"]})"),
           of_header(R"({"alg":"RS256","kid":"r","crit":[]})"),
           of_header(R"({"alg":"RS256","kid":"r","typ":"JWE"})"),
           of_header(R"({"alg":"RS256","kid":"r","typ":7})"),
           header + "." + std::string(kMaxJwtBytes, 'A') + ".AA",
           header + "." + Base64Url(std::string(3000, '[')) + ".AA",
       }) {
    const absl::StatusOr<Jwt> parsed = ParseJwt(bad);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kUnauthenticated) << bad.substr(0, 100);
  }
}

TEST(Claims, AreOfTheIssuerForThisServiceAndForNow) {
  struct Case {
    std::function<void(json&)> change;
    std::string why;  // empty: it is taken
  };
  const int64_t now = absl::ToUnixSeconds(kNow);
  const auto set = [](const char* name, json value) {
    return [name, value = std::move(value)](json& claims) { claims[name] = value; };
  };
  const auto drop = [](const char* name) { return [name](json& claims) { claims.erase(name); }; };
  const std::vector<Case> cases = {
      {[](json&) {}, ""},
      {drop("iat"), ""},
      {drop("iss"), "iss"},
      {set("iss", std::string(kIssuer) + "/"), "iss"},
      {set("iss", json::array({kIssuer})), "iss"},
      {drop("aud"), "aud"},
      {set("aud", "epsledger2"), "aud"},
      {set("aud", json::array({"other", kAudience})), ""},
      {set("aud", json::array({"other"})), "aud"},
      {set("aud", json::array()), "aud"},
      {set("aud", json::object({{kAudience, true}})), "aud"},
      {drop("exp"), "exp"},
      {set("exp", "tomorrow"), "exp"},
      {set("exp", nullptr), "exp"},
      {set("exp", 1e300), "exp"},
      {set("exp", now - 59), ""},
      {set("exp", now - 60), "has expired"},
      {set("exp", now - 59.5), ""},
      {set("exp", 0), "has expired"},
      {set("exp", -1), "has expired"},
      {set("exp", now + 24 * 3600), ""},
      {set("exp", now + 25 * 3600), "at most a day"},
      {set("nbf", now + 59), ""},
      {set("nbf", now + 61), "nbf"},
      {set("nbf", "now"), "nbf"},
      {set("iat", now + 61), "iat"},
      {set("iat", now - 1'000'000), ""},
  };
  for (const Case& c : cases) {
    json claims = GoodClaims();
    c.change(claims);
    const absl::Status status = CheckClaims(claims, kIssuer, kAudience, kNow);
    EXPECT_EQ(status.ok(), c.why.empty()) << claims << status;
    if (!c.why.empty()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << claims;
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.why)) << claims;
    }
  }
}

TEST(ClaimRules, TheFirstThatFitsSaysWho) {
  const absl::StatusOr<ClaimRules> rules = ClaimRules::Parse(kRules);
  ASSERT_TRUE(rules.ok()) << rules.status();
  const auto vision = rules->CallerOf(GoodClaims());
  ASSERT_TRUE(vision.ok()) << vision.status();
  EXPECT_EQ(vision->principal, "oidc/alice");
  EXPECT_EQ(vision->tenant.name, "acme");
  EXPECT_EQ(vision->role, core::Role::kTrainer);
  ASSERT_NE(vision->scope, nullptr);
  const std::vector<std::string> methods = {"ChargeService.Charge", "SessionService.OpenAttempt"};
  EXPECT_EQ(*vision->scope, (core::Scope{{"vision", "", methods}, {"speech", "first", methods}}));

  json officer = GoodClaims();
  officer["groups"] = "officers";  // a text is as a list of one
  EXPECT_EQ(rules->CallerOf(officer)->role, core::Role::kAdmin);
  EXPECT_EQ(rules->CallerOf(officer)->scope, nullptr);
  json auditor = GoodClaims();
  auditor["groups"] = json::array();
  auditor["realm"] = {{"roles", {"auditor"}}};
  EXPECT_EQ(rules->CallerOf(auditor)->tenant.name, "");
  EXPECT_EQ(rules->CallerOf(auditor)->role, core::Role::kViewer);

  for (const json& groups : {json(nullptr), json(7), json::array({7}), json::array({"Vision"}),
                             json::array({json::array({"vision"})}), json("vision,officers"),
                             json::object({{"vision", 1}})}) {
    json nobody = GoodClaims();
    nobody["groups"] = groups;
    const auto caller = rules->CallerOf(nobody);
    EXPECT_EQ(caller.status().code(), absl::StatusCode::kUnauthenticated) << groups;
    EXPECT_THAT(std::string(caller.status().message()), HasSubstr("no rule")) << groups;
  }
  for (const json& subject :
       {json(nullptr), json(7), json(""), json(std::string(129, 'a')), json("a\nb"), json(" alice"),
        json("alice "), json("a\u202eb"), json("\u009b1m"), json("a\u200bb"), json("e\u0301")}) {
    json nameless = GoodClaims();
    nameless["sub"] = subject;
    EXPECT_EQ(rules->CallerOf(nameless).status().code(), absl::StatusCode::kUnauthenticated)
        << subject;
  }
}

TEST(ClaimRules, ThatAreWrongSayWhere) {
  const auto rule = [](const std::string& more) {
    return R"({"rules": [{"claim": "groups", "value": "x", "role": "viewer"}, {)" + more + "}]}";
  };
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "JSON"},
      {"{}", "rules: want a list"},
      {R"({"rules": []})", "rules: want a list"},
      {R"({"rules": [7]})", "rules[0]: want an object"},
      {R"({"rule": []})", "the key \"rule\" is not known"},
      {R"({"rules": [], "rules": []})", "only once"},
      {R"({"principal": 7, "rules": []})", "principal"},
      {rule(""), "rules[1].claim"},
      {rule(R"("claim": "/a~2", "value": "x", "role": "viewer")"), "rules[1].claim"},
      {rule(R"("claim": "a", "role": "viewer")"), "rules[1].value"},
      {rule(R"("claim": "a", "value": "x")"), "rules[1].role"},
      {rule(R"("claim": "a", "value": "x", "role": "root")"), "rules[1].role"},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "tenant": "A")"), "rules[1].tenant"},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "grants": [])"), "\"grants\""},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "within": [])"), "rules[1].within"},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "within": ["vision"])"),
       "got \"vision\""},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "within": ["budgets/a/b"])"),
       "rules[1].within"},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "methods": ["ChargeService.Charge"])"),
       "rules[1].methods"},
      {rule(R"("claim": "a", "value": "x", "role": "viewer", "within": ["budgets/a"],
               "methods": ["Charge"])"),
       "got \"Charge\""},
  };
  for (const auto& [text, why] : wrong) {
    const absl::StatusOr<ClaimRules> parsed = ClaimRules::Parse(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(why)) << text;
  }
}

TEST(DocumentSource, IsAFileOrComesOverTls) {
  for (const char* good : {"keys.json", "/etc/keys.json", "https://issuer.example/jwks",
                           "http://127.0.0.1:8080/jwks", "http://localhost/jwks"}) {
    EXPECT_TRUE(DocumentSource::Of("--oidc-keys", good).ok()) << good;
  }
  for (const char* bad : {"http://issuer.example/jwks", "ftp://127.0.0.1/jwks", "file:///etc/keys",
                          "http://127.0.0.1.example/jwks", "://"}) {
    const auto source = DocumentSource::Of("--oidc-keys", bad);
    EXPECT_EQ(source.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(source.status().message()), HasSubstr("--oidc-keys")) << bad;
  }
}

class Provider : public ::testing::Test {
 protected:
  Provider() {
    Write("keys", SetOf({key_.Json()}));
    Write("rules", kRules);
  }
  ~Provider() override { std::filesystem::remove_all(folder_); }

  std::string PathOf(const std::string& name) const { return folder_ / name; }
  // Readers see the whole file or the one before.
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_);
    std::ofstream(PathOf("new")) << text;
    std::filesystem::rename(PathOf("new"), PathOf(name));
  }
  OidcOptions Options() const {
    return {.issuer = kIssuer,
            .audience = kAudience,
            .keys = PathOf("keys"),
            .rules_file = PathOf("rules")};
  }
  std::string Sign(const json& claims) const { return key_.Sign("RS256", claims.dump()); }
  // Until the provider has read what was written.
  static bool Until(const std::function<bool()>& done) {
    for (int i = 0; i < 1'000 && !done(); ++i) absl::SleepFor(absl::Milliseconds(20));
    return done();
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      absl::StrCat("epsledger-oidc-", ::getpid(), "-",
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
  TestKey key_ = TestKey::Rsa("r");
};

TEST_F(Provider, KnowsACallerUntilTheTokenEnds) {
  const auto provider = OidcProvider::Start(Options());
  ASSERT_TRUE(provider.ok()) << provider.status();
  const absl::Time now = absl::Now();
  const std::string token = Sign(GoodClaims(now));
  EXPECT_TRUE((*provider)->MayBeOurs(token));
  EXPECT_FALSE((*provider)->MayBeOurs("epsl_" + std::string(43, 'A')));
  for (int i = 0; i < 3; ++i) {
    const auto caller = (*provider)->CallerOf(token, now);
    ASSERT_TRUE(caller.ok()) << caller.status();
    EXPECT_EQ(caller->principal, "oidc/alice");
  }
  // The same token, remembered, after its end and before its beginning.
  EXPECT_FALSE((*provider)->CallerOf(token, now + absl::Hours(2)).ok());
  EXPECT_FALSE((*provider)->CallerOf(token, now - absl::Hours(1)).ok());
  EXPECT_TRUE((*provider)->CallerOf(token, now).ok());
}

TEST_F(Provider, TakesNoForgery) {
  const auto provider = OidcProvider::Start(Options());
  ASSERT_TRUE(provider.ok()) << provider.status();
  const absl::Time now = absl::Now();
  const std::string claims = GoodClaims(now).dump();
  const std::string good = Sign(GoodClaims(now));
  const std::vector<std::string> parts = absl::StrSplit(good, '.');
  json officer = GoodClaims(now);
  officer["groups"] = "officers";
  const auto unsigned_token = [&](const std::string& algorithm, const std::string& signature) {
    return absl::StrCat(Base64Url(R"({"alg":")" + algorithm + R"(","kid":"r"})"), ".",
                        Base64Url(officer.dump()), ".", signature);
  };
  // The public key as a secret that both know: the confusion of RS256 and HS256.
  const TestKey confused = TestKey::Shared("r", key_.Json().dump());
  const std::vector<std::string> forged = {
      unsigned_token("none", ""),
      unsigned_token("none", "AA"),
      unsigned_token("None", "AA"),
      unsigned_token("RS256", parts[2]),
      unsigned_token("", parts[2]),
      absl::StrCat(parts[0], ".", Base64Url(officer.dump()), ".", parts[2]),
      absl::StrCat(parts[0], ".", parts[1], ".", parts[2].substr(0, parts[2].size() - 4)),
      absl::StrCat(parts[0], ".", parts[1], ".AA"),
      confused.Sign("HS256", officer.dump()),
      TestKey::Rsa("r").Sign("RS256", claims),
      TestKey::Rsa("other").Sign("RS256", claims),
      // A header that brings its own key, or says where it is.
      TestKey::Rsa("r").Sign("RS256", claims, {{"jku", "https://evil.example/jwks"}}),
      good + ".",
      good + "A.",
      "Bearer " + good,
  };
  for (const std::string& token : forged) {
    const auto caller = (*provider)->CallerOf(token, now);
    EXPECT_EQ(caller.status().code(), absl::StatusCode::kUnauthenticated) << token;
    EXPECT_THAT(std::string(caller.status().message()), HasSubstr("the issuer's token"));
  }
  // Every byte of a good one counts.
  for (size_t i = 0; i < good.size(); i += 7) {
    std::string changed = good;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (i + 1 == good.size()) continue;  // bits of the last character may mean nothing
    EXPECT_FALSE((*provider)->CallerOf(changed, now).ok()) << i;
  }
  EXPECT_TRUE((*provider)->CallerOf(good, now).ok());
}

TEST_F(Provider, FollowsItsKeysAndRules) {
  const auto provider = OidcProvider::Start(Options());
  ASSERT_TRUE(provider.ok()) << provider.status();
  const absl::Time now = absl::Now();
  const std::string token = Sign(GoodClaims(now));
  const TestKey next = TestKey::Curve("next", CJOSE_JWK_EC_P_256);
  const std::string newer = next.Sign("ES256", GoodClaims(now).dump());
  const auto takes = [&](const std::string& of) { return (*provider)->CallerOf(of, now).ok(); };
  EXPECT_TRUE(takes(token));
  EXPECT_FALSE(takes(newer));
  // A rotation with an overlap, and its end.
  Write("keys", SetOf({key_.Json(), next.Json()}));
  EXPECT_TRUE(Until([&] { return takes(newer); }));
  EXPECT_TRUE(takes(token));
  Write("keys", SetOf({next.Json()}));
  EXPECT_TRUE(Until([&] { return !takes(token); }));
  EXPECT_TRUE(takes(newer));
  // A group that is worth something else now, also for a token that is remembered.
  const auto becomes = [&](core::Role role) {
    return Until([&] {
      const auto caller = (*provider)->CallerOf(newer, now);
      return caller.ok() && caller->role == role;
    });
  };
  const std::string other = absl::StrReplaceAll(kRules, {{"\"vision\"", "\"audio\""}});
  Write("rules", other);
  EXPECT_TRUE(becomes(core::Role::kViewer));
  // What is wrong leaves what was there: rules are read, then keys, then rules.
  Write("keys", "{}");
  Write("rules", kRules);
  EXPECT_TRUE(becomes(core::Role::kTrainer));
  Write("rules", other);
  EXPECT_TRUE(becomes(core::Role::kViewer));
  EXPECT_TRUE(takes(newer));
  EXPECT_FALSE(takes(token));
  // What is gone from a set signs no more, whatever else is wrong with the set.
  const nlohmann::json short_key = TestKey::Rsa("short", 1024).Json();
  Write("keys", SetOf({key_.Json(), next.Json(), short_key}));
  EXPECT_TRUE(Until([&] { return takes(token); }));
  EXPECT_TRUE(takes(newer));
  Write("keys", SetOf({next.Json(), short_key}));
  EXPECT_TRUE(Until([&] { return !takes(token); }));
  EXPECT_TRUE(takes(newer));
  Write("keys", SetOf({next.Json(), next.Json(), key_.Json()}));
  EXPECT_TRUE(Until([&] { return !takes(newer); }));
  EXPECT_TRUE(takes(token));
  Write("keys", SetOf({}));
  EXPECT_TRUE(Until([&] { return !takes(token); }));
}

TEST_F(Provider, DoesNotStartWithWhatIsWrong) {
  const auto why = [](const OidcOptions& options) {
    const auto provider = OidcProvider::Start(options);
    EXPECT_EQ(provider.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(provider.status().message());
  };
  OidcOptions some = Options();
  some.audience.clear();
  EXPECT_THAT(why(some), HasSubstr("want all of them or none"));
  OidcOptions absent = Options();
  absent.keys = PathOf("absent");
  EXPECT_THAT(why(absent), HasSubstr("--oidc-keys: "));
  OidcOptions plain = Options();
  plain.keys = "http://issuer.example/jwks";
  EXPECT_THAT(why(plain), HasSubstr("https URL"));
  Write("rules", R"({"rules": [{}]})");
  EXPECT_THAT(why(Options()), HasSubstr("--oidc-rules: rules[0].claim"));
  Write("rules", kRules);
  Write("keys", "{}");
  EXPECT_THAT(why(Options()), HasSubstr("--oidc-keys: key set"));
}

// Where nobody answers, tokens cannot be told from forgeries: UNAVAILABLE, not yes and not no.
TEST_F(Provider, WithoutKeysSaysThatItCannotTell) {
  OidcOptions options = Options();
  options.keys = "http://127.0.0.1:1/jwks";
  const auto provider = OidcProvider::Start(options);
  ASSERT_TRUE(provider.ok()) << provider.status();
  EXPECT_EQ((*provider)->CallerOf(Sign(GoodClaims(absl::Now())), absl::Now()).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(Provider, DoesNotBelieveKeysThatItCouldNotReadForADay) {
  const auto provider = OidcProvider::Start(Options());
  ASSERT_TRUE(provider.ok()) << provider.status();
  const absl::Time later = absl::Now() + kMaxKeyAge + absl::Minutes(1);
  EXPECT_EQ((*provider)->CallerOf(Sign(GoodClaims(later)), later).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace epsledger::oidc
