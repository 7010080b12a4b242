#include "client/cli/verify/statement_check.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/files/input_file.h"
#include "client/cli/verify/merkle_proof.h"
#include "proto/bridge/printable.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using google::protobuf::util::MessageDifferencer;

constexpr size_t kKeyBytes = 32;
constexpr size_t kSignatureBytes = 64;

// The keys of small order: the points (x, y) of the curve that 8, its cofactor, takes to the
// neutral point (0, 1). With such a key A, h * A is the neutral point for at least one hash h in 8,
// and then R = (0, 1), S = 0 is a signature that libraries accept, OpenSSL among them. A key is y
// in 255 bits of little endian with the sign of x in the last bit (RFC 8032, 5.1.2). The eight
// points have five y: 1 (order 1), -1 (order 2), 0 (order 4), and y with its negative (order 8).
// Decoders reduce modulo p = 2^255 - 19, so p and p + 1 are 0 and 1 too, and they take either sign
// of x = 0: seven y with either sign.
constexpr std::string_view kSmallOrder[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",   // 0
    "0100000000000000000000000000000000000000000000000000000000000000",   // 1
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",   // of order 8
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",   // its negative
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",   // p - 1
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",   // p
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};  // p + 1

// REQUIRES: the key has 32 bytes.
bool HasSmallOrder(std::string key) {
  key.back() = static_cast<char>(key.back() & 0x7f);
  const std::string digits = absl::BytesToHexString(key);
  return std::find(std::begin(kSmallOrder), std::end(kSmallOrder), digits) != std::end(kSmallOrder);
}

absl::Status CheckPublicKey(const std::string& key) {
  if (key.size() != kKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("--public-key: got ", key.size(),
                                                   " bytes, want 32 as 64 hexadecimal "
                                                   "digits"));
  }
  if (HasSmallOrder(key)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--public-key: got ", absl::BytesToHexString(key),
                     ", a point of small order, for which everybody can sign; want the key of a "
                     "server"));
  }
  return absl::OkStatus();
}

const unsigned char* Unsigned(const std::string& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

bool IsSigned(const std::string& message, const std::string& signature,
              const std::string& public_key) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Unsigned(public_key),
                                  public_key.size()),
      &EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  return key != nullptr && digest != nullptr && signature.size() == kSignatureBytes &&
         EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), Unsigned(signature), signature.size(), Unsigned(message),
                          message.size()) == 1;
}

const Value& Member(const Struct& object, const char* key) {
  const auto it = object.fields().find(key);
  return it == object.fields().end() ? Value::default_instance() : it->second;
}

absl::StatusOr<Struct> JsonOf(const v1::PrivacyStatement& statement) {
  Struct json;
  if (google::protobuf::util::JsonStringToMessage(statement.json(), &json).ok()) return json;
  return absl::DataLossError("the statement's JSON cannot be read");
}

// A statement of release 0.1 names neither tenant nor store: then nothing contradicts.
bool Contradicts(const Struct& earlier, const Struct& later, const char* key) {
  const auto& before = earlier.fields();
  return before.count(key) > 0 &&
         Member(earlier, key).string_value() != Member(later, key).string_value();
}

}  // namespace

absl::StatusOr<v1::PrivacyStatement> LoadStatement(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string json, ReadInputFile("file", path));
  v1::PrivacyStatement statement;
  // A field that stands twice has no one value: the reader of protobuf takes the last.
  if (json_syntax::CheckObject(json, nullptr).ok() &&
      google::protobuf::util::JsonStringToMessage(json, &statement).ok()) {
    return statement;
  }
  return absl::InvalidArgumentError(path + ": is not what `epsctl statement get --save` writes");
}

absl::StatusOr<std::string> PublicKeyOfDigits(const std::string& digits) {
  constexpr size_t kDigits = 2 * kKeyBytes;
  const bool is_hex = digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
  std::string key;
  if (is_hex && digits.size() == kDigits) {
    key = absl::HexStringToBytes(digits);
  } else if (!absl::Base64Unescape(digits, &key) || key.size() != kKeyBytes ||
             absl::Base64Escape(key) != digits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--public-key: got \"", bridge::Printable(digits.substr(0, kDigits)), "\" (", digits.size(),
        " characters), want 64 hexadecimal digits, or the base64 of `server info`"));
  }
  RETURN_IF_ERROR(CheckPublicKey(key));
  return key;
}

absl::Status CheckStatement(const v1::PrivacyStatement& statement, const std::string& public_key) {
  RETURN_IF_ERROR(CheckPublicKey(public_key));
  if (!IsSigned(statement.json(), statement.signature(), public_key)) {
    return absl::DataLossError("the statement's JSON was not signed by the owner of this key");
  }
  Struct json;
  if (!google::protobuf::util::JsonStringToMessage(statement.json(), &json).ok() ||
      Member(json, "privacyStatement").number_value() != 1) {
    return absl::DataLossError(
        "the signed text is not a privacy statement of a known version: want \"privacyStatement\": "
        "1");
  }
  if (statement.public_key() != public_key) {
    return absl::DataLossError(
        "the statement names another public key than the one that signed it");
  }
  const auto differs = [](const char* part) {
    return absl::DataLossError(absl::StrCat("the statement's ", part, " is not what was signed"));
  };
  const auto is_digest_of = [&](const char* key, const std::string& bytes) {
    return Member(json, key).string_value() == absl::BytesToHexString(Sha256(bytes));
  };
  if (!is_digest_of("textSha256", statement.text())) return differs("text");
  if (!is_digest_of("htmlSha256", statement.html())) return differs("HTML");
  const Struct& ledger = Member(json, "ledger").struct_value();
  const v1::LedgerHead& head = statement.head();
  if (Member(ledger, "rootBudget").string_value() != head.root_budget() ||
      Member(ledger, "sequence").number_value() != static_cast<double>(head.sequence()) ||
      Member(ledger, "hash").string_value() != absl::BytesToHexString(head.hash()) ||
      Member(ledger, "merkleRoot").string_value() != absl::BytesToHexString(head.merkle_root())) {
    return differs("ledger head");
  }
  return absl::OkStatus();
}

absl::StatusOr<StatementSubject> SubjectOf(const v1::PrivacyStatement& statement) {
  ASSIGN_OR_RETURN(const Struct json, JsonOf(statement));
  StatementSubject subject{
      .name = Member(Member(json, "resource").struct_value(), "name").string_value(),
      .delta = Member(json, "delta").number_value()};
  if (subject.name.empty()) return absl::DataLossError("the statement names no budget or session");
  return subject;
}

absl::StatusOr<std::vector<std::string>> ChangesBetween(const v1::PrivacyStatement& earlier,
                                                        const v1::PrivacyStatement& later) {
  ASSIGN_OR_RETURN(const Struct before, JsonOf(earlier));
  ASSIGN_OR_RETURN(const Struct after, JsonOf(later));
  const Struct& old_ledger = Member(before, "ledger").struct_value();
  const Struct& new_ledger = Member(after, "ledger").struct_value();
  for (const char* key : {"tenant", "rootBudget", "store"}) {
    if (Contradicts(old_ledger, new_ledger, key)) {
      return absl::DataLossError(
          "the statement is about another ledger than the server's ledger of that name");
    }
  }
  if (Member(old_ledger, "sequence").number_value() >
      Member(new_ledger, "sequence").number_value()) {
    return absl::DataLossError(
        "the statement covers more entries than the server's ledger has: the ledger has lost some");
  }
  std::vector<std::string> changes;
  for (const char* key : {"resource", "caps", "claim", "audits", "sampling"}) {
    if (!MessageDifferencer::Equals(Member(before, key), Member(after, key))) {
      changes.push_back(key);
    }
  }
  // Statements of 0.1.0 have none.
  if (before.fields().count("annotations") > 0 &&
      !MessageDifferencer::Equals(Member(before, "annotations"), Member(after, "annotations"))) {
    changes.push_back("annotations");
  }
  return changes;
}

}  // namespace epsledger::cli
