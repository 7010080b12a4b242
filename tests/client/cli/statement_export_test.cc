// `statement export` of files that anybody could have written: only what the owner of the given key
// signed gets into a form, and no input ends the program.

#include <google/protobuf/util/json_util.h>
#include <openssl/evp.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/epsctl.h"
#include "client/cli/forms/forms.h"
#include "client/cli/verify/statement_check.h"
#include "nlohmann/json.hpp"
#include "tests/server/transport/test_server.h"

namespace epsledger::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome Epsctl(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{.in = in, .out = out, .err = err};
  const ExitCode code = RunEpsctl(arguments, terminal);
  return {code, out.str(), err.str()};
}

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// An Ed25519 key that no server has.
class StrangersKey {
 public:
  std::string PublicKey() const {
    std::string bytes(32, '\0');
    size_t size = bytes.size();
    EXPECT_EQ(EVP_PKEY_get_raw_public_key(key_.get(),
                                          reinterpret_cast<unsigned char*>(bytes.data()), &size),
              1);
    return bytes;
  }
  std::string Sign(const std::string& text) const {
    const Digest digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    std::string signature(64, '\0');
    size_t size = signature.size();
    EXPECT_EQ(EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key_.get()), 1);
    EXPECT_EQ(EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()),
                             &size, Bytes(text), text.size()),
              1);
    return signature;
  }

 private:
  Key key_{EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free};
};

// What OpenSSL itself says, without any check of ours.
bool OpenSslAccepts(const std::string& text, const std::string& signature,
                    const std::string& public_key) {
  const Key key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Bytes(public_key), public_key.size()),
      &EVP_PKEY_free);
  const Digest digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return key != nullptr &&
         EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), Bytes(signature), signature.size(), Bytes(text),
                          text.size()) == 1;
}

class StatementExport : public ::testing::Test {
 protected:
  StatementExport() {
    transport::TestServer server;
    const auto ask = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), {"--server", server.server->addresses()[0]});
      const Outcome outcome = Epsctl(arguments);
      EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
    };
    ask({"budget", "create", "people", "--epsilon", "3", "--delta", "1e-5", "--relation",
         "add-or-remove-one", "--privacy-unit", "person"});
    ask({"session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap"});
    ask({"charge", "create", "people/run", "--open-attempt", "--charge-id", "a", "--gaussian",
         "40"});
    ask({"statement", "get", "people/run", "--delta", "1e-5", "--save", path_});
    genuine_ = *LoadStatement(path_);
    said_ = json::parse(genuine_.json());
  }

  void Save(const v1::PrivacyStatement& statement) const {
    std::string text;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(statement, &text).ok());
    std::ofstream(path_, std::ios::binary) << text;
  }

  // The statement with another JSON, signed by the stranger.
  v1::PrivacyStatement Signed(const std::string& text) const {
    v1::PrivacyStatement statement = genuine_;
    statement.set_json(text);
    statement.set_signature(stranger_.Sign(text));
    statement.set_public_key(stranger_.PublicKey());
    return statement;
  }

  Outcome Export(const std::string& form, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"statement", "export", path_, "--format", form};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Epsctl(arguments);
  }

  // A statement as its owner would like it.
  json Flattering() const {
    json flattering = said_;
    flattering["epsilon"]["epsilon"] = 0.01;
    flattering["epsilon"]["shown"] = "0.01";
    flattering["warnings"] = json::array();
    return flattering;
  }

  const std::string path_ =
      absl::StrCat(::testing::TempDir(), "/statement_export_test.",
                   ::testing::UnitTest::GetInstance()->current_test_info()->name(), ".json");
  const StrangersKey stranger_;
  v1::PrivacyStatement genuine_;
  json said_;
};

constexpr const char* kForms[] = {"nist-800-226", "model-card", "openlineage", "in-toto"};

TEST_F(StatementExport, NeedsTheKeyOfTheSignerAndNamesIt) {
  const std::string key = absl::BytesToHexString(genuine_.public_key());
  const std::string other = absl::BytesToHexString(stranger_.PublicKey());
  for (const char* form : kForms) {
    const Outcome made = Export(form, {"--public-key", key});
    EXPECT_EQ(made.code, ExitCode::kOk) << made.err;
    EXPECT_THAT(made.out, HasSubstr(key)) << form;
    const Outcome by_base64 =
        Export(form, {"--public-key", absl::Base64Escape(genuine_.public_key())});
    EXPECT_EQ(by_base64.out, made.out) << by_base64.err;
    for (const auto& [flags, code, says] :
         std::vector<std::tuple<std::vector<std::string>, ExitCode, std::string>>{
             {{}, ExitCode::kUsage, "--public-key"},
             {{"--public-key", ""}, ExitCode::kUsage, "got \"\" (0 characters), want 64 hex"},
             {{"--public-key", key.substr(2)}, ExitCode::kUsage, "(62 characters), want 64 hex"},
             {{"--public-key", "x" + key.substr(1)}, ExitCode::kUsage, "want 64 hexadecimal"},
             {{"--public-key", other}, ExitCode::kFailed, "not signed by the owner of this key"}}) {
      const Outcome refused = Export(form, flags);
      EXPECT_EQ(refused.code, code);
      EXPECT_THAT(refused.out, IsEmpty());
      EXPECT_THAT(refused.err, HasSubstr(says));
    }
  }
}

TEST_F(StatementExport, RefusesAFileInWhichAFieldStandsTwice) {
  std::string text;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(genuine_, &text).ok());
  ASSERT_EQ(text.front(), '{');
  for (const char* spelling : {"publicKey", "public_key"}) {
    std::ofstream(path_, std::ios::binary) << "{\"" << spelling << "\": \"\"," << text.substr(1);
    const Outcome refused =
        Export("in-toto", {"--public-key", absl::BytesToHexString(genuine_.public_key())});
    EXPECT_NE(refused.code, ExitCode::kOk);
    EXPECT_THAT(refused.out, IsEmpty());
    EXPECT_THAT(refused.err, HasSubstr("is not what `epsctl statement get --save` writes"));
  }
}

TEST_F(StatementExport, RefusesAStatementThatAStrangerSigned) {
  Save(Signed(Flattering().dump()));
  const std::string key = absl::BytesToHexString(genuine_.public_key());
  for (const char* form : kForms) {
    const Outcome refused = Export(form, {"--public-key", key});
    EXPECT_EQ(refused.code, ExitCode::kFailed);
    EXPECT_THAT(refused.out, IsEmpty());
    EXPECT_THAT(refused.err, HasSubstr("not signed by the owner of this key"));
  }
}

// 2^255 - 19 + `more` in 32 bytes of little endian.
std::string PrimePlus(int more) {
  std::string bytes(32, '\xff');
  bytes[0] = static_cast<char>(0xed + more);
  bytes[31] = '\x7f';
  return bytes;
}

std::string Small(char y) { return y + std::string(31, '\0'); }

TEST_F(StatementExport, RefusesKeysForWhichEverybodyCanSign) {
  const std::vector<std::string> coordinates = {
      Small(0),
      Small(1),
      PrimePlus(-1),
      PrimePlus(0),  // 0 again
      PrimePlus(1),  // 1 again
      absl::HexStringToBytes("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
      absl::HexStringToBytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")};
  // The neutral point and the number 0.
  const std::string signature = Small(1) + std::string(32, '\0');
  for (const std::string& y : coordinates) {
    for (const int sign : {0, 0x80}) {
      std::string key = y;
      key[31] = static_cast<char>(key[31] | sign);
      const std::string digits = absl::BytesToHexString(key);
      // Nobody signed this text. One in eight such texts at least is accepted.
      std::string text = Flattering().dump();
      for (int i = 0; i < 2000 && !OpenSslAccepts(text, signature, key); ++i) text += ' ';
      ASSERT_TRUE(OpenSslAccepts(text, signature, key)) << digits;
      v1::PrivacyStatement forged = genuine_;
      forged.set_json(text);
      forged.set_signature(signature);
      forged.set_public_key(key);
      EXPECT_EQ(CheckStatement(forged, key).code(), absl::StatusCode::kInvalidArgument) << digits;
      Save(forged);
      const Outcome exported = Export("nist-800-226", {"--public-key", digits});
      const Outcome verified = Epsctl({"statement", "verify", path_, "--public-key", digits});
      for (const Outcome& refused : {exported, verified}) {
        EXPECT_EQ(refused.code, ExitCode::kUsage) << digits;
        EXPECT_THAT(refused.out, IsEmpty());
        EXPECT_THAT(refused.err, HasSubstr("a point of small order"));
      }
    }
  }
}

// A key that is said but is none does not mean that any key of the server will do.
TEST_F(StatementExport, CheckTakesNoWrongKeyForNone) {
  for (const char* digits : {"", "ab", "no key"}) {
    const Outcome refused = Epsctl({"statement", "check", path_, "--public-key", digits});
    EXPECT_EQ(refused.code, ExitCode::kUsage) << digits;
    EXPECT_THAT(refused.err, HasSubstr("want 64 hexadecimal digits"));
  }
}

// The pointers to every value of `value`; of a list only its first item.
void Walk(const json& value, const json::json_pointer& at,
          const std::function<void(const json::json_pointer&)>& visit) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      visit(at / key);
      Walk(member, at / key, visit);
    }
  } else if (value.is_array() && !value.empty()) {
    visit(at / 0);
    Walk(value[0], at / 0, visit);
  }
}

TEST_F(StatementExport, OfAnySignedJsonIsAFormOrAnError) {
  const FormAnswers answers = *FormAnswers::Parse(
      R"({"name": "m", "curators": ["C"], "description": "d", "intendedUse": "u", "region": "r",
          "productType": "Dataset", "publicationDate": "2026-11-28", "authors": ["a"]})");
  const std::vector<json> oddities = {nullptr,
                                      true,
                                      0,
                                      1,
                                      -1,
                                      1e308,
                                      "",
                                      "x",
                                      "-5",
                                      "NaN",
                                      "Infinity",
                                      json::array(),
                                      json::object(),
                                      json::array({json::array()}),
                                      json::parse("{\"a\": 1}")};
  size_t filled = 0;
  size_t refused = 0;
  const auto expect_form_or_error = [&](const json& changed, const std::string& what) {
    const v1::PrivacyStatement statement = Signed(changed.dump());
    // The version and what stands outside of the JSON too are checked before the fields.
    if (!CheckStatement(statement, stranger_.PublicKey()).ok()) return;
    for (const std::string& name : FormNames()) {
      const auto form = FillForm(*FormNamed(name), statement, answers, {});
      ++(form.ok() ? filled : refused);
      EXPECT_TRUE(form.ok() || absl::IsFailedPrecondition(form.status())) << what << form.status();
      EXPECT_TRUE(form.ok() || std::string(form.status().message()).starts_with("the statement"))
          << what;
    }
  };
  Walk(said_, json::json_pointer(), [&](const json::json_pointer& at) {
    if (at.to_string().starts_with("/accountants/")) return;
    json changed = said_;
    json& parent = changed[at.parent_pointer()];
    if (parent.is_object()) {
      parent.erase(at.back());
    } else {
      parent.erase(0);
    }
    expect_form_or_error(changed, at.to_string() + " is missing");
    for (const json& oddity : oddities) {
      changed = said_;
      changed[at] = oddity;
      expect_form_or_error(changed, absl::StrCat(at.to_string(), " is ", oddity.dump()));
    }
  });
  // Some fields do not matter to a form and some do.
  EXPECT_GT(filled, 100u);
  EXPECT_GT(refused, 100u);
}

TEST_F(StatementExport, OfALaterVersionSaysWhichFieldItMisses) {
  json later = said_;
  later["resource"].erase("privacyUnit");
  later["serverVersion"] = "9.1";
  Save(Signed(later.dump()));
  const Outcome refused =
      Export("nist-800-226", {"--public-key", absl::BytesToHexString(stranger_.PublicKey())});
  EXPECT_EQ(refused.code, ExitCode::kFailed);
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_THAT(refused.err, HasSubstr("the statement's resource.privacyUnit: got nothing, want a "
                                     "text; it was made by epsledger 9.1"));
}

TEST_F(StatementExport, RefusesAnswersWithHalfACharacter) {
  const std::string answers = ::testing::TempDir() + "/statement_export_answers.json";
  std::ofstream(answers, std::ios::binary) << R"({"notes": "\ud800"})";
  const std::string key = absl::BytesToHexString(genuine_.public_key());
  for (const std::string& form : FormNames()) {
    const Outcome refused = Export(form, {"--public-key", key, "--answers", answers});
    EXPECT_EQ(refused.code, ExitCode::kUsage);
    EXPECT_THAT(refused.out, IsEmpty());
    EXPECT_THAT(refused.err, HasSubstr("answers: notes: got a text with half of a surrogate pair"));
  }
}

}  // namespace
}  // namespace epsledger::cli
