// The forms that machines read: JSON.

#include <openssl/sha.h>

#include <string>
#include <utility>

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
          {"signatureAlgorithm", "Ed25519 over the bytes of \"statement\""}};
}

FilledForm Filled(const ordered_json& form, FormDraft draft) {
  return {.text = form.dump(2) + "\n", .blanks = std::move(draft.blanks)};
}

}  // namespace

absl::StatusOr<FilledForm> FillOpenLineage(FormDraft draft,
                                           const v1::PrivacyStatement& signed_statement) {
  const nlohmann::json& resource = draft.statement.at("resource");
  ordered_json facet = {
      {"_producer", absl::StrCat("urn:epsledger:", draft.statement.value("serverVersion", ""))},
      {"_schemaURL", "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet"},
      {"resource", resource.at("name")},
      {"privacyUnit", resource.at("privacyUnit")},
      {"neighboringRelation", resource.at("neighboringRelation")},
      {"delta", draft.statement.at("delta")},
      {"accountant", draft.statement.at("epsilon").value("by", "")},
      {"theorem", draft.statement.at("epsilon").value("theorem", "")},
      {"ledger", draft.statement.at("ledger")},
      {"signed", Signed(signed_statement)}};
  // A text where no finite bound is known: no number would be true.
  const auto epsilon = draft.statement.at("epsilon").find("epsilon");
  facet["epsilonUpperBound"] = epsilon == draft.statement.at("epsilon").end()
                                   ? ordered_json("unknown")
                                   : ordered_json(*epsilon);
  return Filled({{"epsledger_privacyStatement", facet}}, std::move(draft));
}

absl::StatusOr<FilledForm> FillInToto(FormDraft draft, const v1::PrivacyStatement& signed_statement,
                                      const std::vector<FormSubject>& subjects) {
  ordered_json about = ordered_json::array();
  for (const FormSubject& subject : subjects) {
    about.push_back({{"name", subject.name}, {"digest", {{"sha256", subject.sha256}}}});
  }
  if (subjects.empty()) {  // then the statement itself
    about.push_back({{"name", draft.statement.at("resource").at("name")},
                     {"digest", {{"sha256", Sha256Hex(signed_statement.json())}}}});
  }
  return Filled({{"_type", "https://in-toto.io/Statement/v1"},
                 {"subject", about},
                 {"predicateType", kPredicateType},
                 {"predicate", Signed(signed_statement)}},
                std::move(draft));
}

}  // namespace epsledger::cli
