// The forms that machines read: JSON.

#include <openssl/sha.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/forms/form_filling.h"

namespace epsledger::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kPredicateType[] = "urn:epsledger:privacy-statement:1";

std::string Base64(const std::string& bytes) { return absl::Base64Escape(bytes); }

std::string Sha256Hex(const std::string& bytes) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return absl::BytesToHexString(hash);
}

// What proves a statement: its bytes, the signature over exactly these bytes, and the key.
ordered_json Signed(const v1::PrivacyStatement& statement) {
  return {{"statement", statement.json()},
          {"signature", Base64(statement.signature())},
          {"publicKey", Base64(statement.public_key())},
          {"publicKeyHex", absl::BytesToHexString(statement.public_key())},
          {"signatureAlgorithm", "Ed25519 over the bytes of \"statement\""}};
}

// A text where no finite bound is known: no number would be true.
ordered_json UpperBoundOf(const StatementFields& said) {
  if (!said.epsilon.has_value()) return "unknown";
  if (std::isinf(*said.epsilon)) return "Infinity";
  return *said.epsilon;
}

// JSON holds no other texts. Bytes that are not UTF-8 are left out or replaced, and so differ.
bool IsUtf8(const std::string& text) {
  const ordered_json value = text;
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::ignore) ==
         value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

FilledForm Filled(const ordered_json& form, FormDraft draft) {
  return {.text = form.dump(2) + "\n", .blanks = std::move(draft.blanks)};
}

}  // namespace

absl::StatusOr<FilledForm> FillOpenLineage(FormDraft draft,
                                           const v1::PrivacyStatement& signed_statement) {
  const StatementFields& said = draft.statement;
  std::vector<std::string> void_caps;
  for (const StatementFields::Cap& cap : said.caps) {
    if (cap.is_void) void_caps.push_back(cap.name);
  }
  ordered_json facet = {
      {"_producer", absl::StrCat("urn:epsledger:", said.server_version)},
      {"_schemaURL", "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet"},
      {"resource", said.name},
      {"privacyUnit", said.privacy_unit},
      {"neighboringRelation", said.neighboring_relation},
      {"epsilonUpperBound", UpperBoundOf(said)},
      {"delta", said.delta},
      {"void", !void_caps.empty()},
      {"voidGuaranteesOf", void_caps},
      {"warnings", said.warnings},
      {"covers", said.covers},
      {"accountant", said.accountant},
      {"theorem", said.theorem},
      {"ledger", said.ledger},
      {"signed", Signed(signed_statement)}};
  return Filled({{"epsledger_privacyStatement", facet}}, std::move(draft));
}

absl::StatusOr<FilledForm> FillInToto(FormDraft draft, const v1::PrivacyStatement& signed_statement,
                                      const std::vector<FormSubject>& subjects) {
  ordered_json about = ordered_json::array();
  for (const FormSubject& subject : subjects) {
    if (!IsUtf8(subject.name)) {
      return absl::InvalidArgumentError(
          "--subject: got a file whose name is not UTF-8, want one that a text of JSON can hold");
    }
    about.push_back({{"name", subject.name}, {"digest", {{"sha256", subject.sha256}}}});
  }
  if (subjects.empty()) {  // then the statement itself
    about.push_back({{"name", draft.statement.name},
                     {"digest", {{"sha256", Sha256Hex(signed_statement.json())}}}});
  }
  return Filled({{"_type", "https://in-toto.io/Statement/v1"},
                 {"subject", about},
                 {"predicateType", kPredicateType},
                 {"predicate", Signed(signed_statement)}},
                std::move(draft));
}

}  // namespace epsledger::cli
