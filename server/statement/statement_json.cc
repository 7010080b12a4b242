// The signed form.

#include <openssl/sha.h>

#include <cmath>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/domain.h"
#include "server/core/policy.h"
#include "server/statement/statement.h"

namespace epsledger::statement {
namespace {

// Writes canonical JSON. Every object and array that is begun must be ended.
class JsonWriter {
 public:
  JsonWriter& Begin(char bracket) {
    Separate();
    json_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& End(char bracket) {
    json_ += bracket;
    first_ = false;
    return *this;
  }
  JsonWriter& Key(std::string_view key) {
    Text(key);
    json_ += ':';
    first_ = true;  // its value has no comma before it
    return *this;
  }
  JsonWriter& Text(std::string_view text) {
    Separate();
    json_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        json_ += '\\';
        json_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        absl::StrAppendFormat(&json_, "\\u%04x", static_cast<int>(c));
      } else {
        json_ += c;
      }
    }
    json_ += '"';
    return *this;
  }
  // Infinity is a text, as in proto3 JSON.
  JsonWriter& Number(double number) {
    if (!std::isfinite(number)) return Text(accounting::FormatDouble(number));
    return Raw(accounting::FormatDouble(number));
  }
  JsonWriter& Integer(int64_t number) { return Raw(absl::StrCat(number)); }
  JsonWriter& Boolean(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Texts(const std::vector<std::string>& texts) {
    Begin('[');
    for (const std::string& text : texts) Text(text);
    return End(']');
  }
  std::string Take() { return std::move(json_); }

 private:
  JsonWriter& Raw(std::string_view token) {
    Separate();
    json_ += token;
    return *this;
  }
  void Separate() {
    if (!first_) json_ += ',';
    first_ = false;
  }
  std::string json_;
  bool first_ = true;
};

std::string Hex(const core::Hash& hash) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

std::string Sha256(std::string_view bytes) {
  core::Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return Hex(hash);
}

const char* Name(Facts::Kind kind) {
  switch (kind) {
    case Facts::Kind::kBudget:
      return "BUDGET";
    case Facts::Kind::kDeclaredSession:
      return "DECLARED_SESSION";
    case Facts::Kind::kAdaptiveSession:
      return "ADAPTIVE_SESSION";
  }
  return "";
}

const char* Name(core::ClaimStatus status) {
  switch (status) {
    case core::ClaimStatus::kProven:
      return "PROVEN";
    case core::ClaimStatus::kNotProven:
      return "NOT_PROVEN";
    case core::ClaimStatus::kCounterexampleKnown:
      return "COUNTEREXAMPLE_KNOWN";
  }
  return "";
}

void Write(const Reading& reading, JsonWriter& json) {
  json.Begin('{').Key("by").Text(reading.by);
  if (reading.guarantee.has_value()) {
    const accounting::Guarantee& guarantee = *reading.guarantee;
    const bool bound = guarantee.kind == accounting::GuaranteeKind::kUpperBound;
    json.Key("kind").Text(bound ? "UPPER_BOUND" : "APPROXIMATION");
    if (guarantee.upper.has_value()) json.Key("epsilon").Number(*guarantee.upper);
    if (guarantee.upper.has_value()) json.Key("shown").Text(ShownRoundedUp(*guarantee.upper));
    json.Key("theorem").Text(guarantee.theorem);
  } else {
    json.Key("reasonUnavailable").Text(reading.reason_unavailable);
  }
  json.End('}');
}

void Write(const CapAccount& cap, JsonWriter& json) {
  json.Begin('{').Key("name").Text(cap.name).Key("cap").Text(cap.cap);
  json.Key("theorem").Text(cap.theorem);
  json.Key("allCellsMustFit").Boolean(cap.all_cells_must_fit);
  json.Key("cells").Begin('[');
  for (const CapAccount::Cell& cell : cap.cells) {
    json.Begin('{').Key("quantity").Text(cell.quantity);
    if (cell.order > 0) json.Key("order").Number(cell.order);
    json.Key("cap").Number(cell.cap).Key("spent").Number(cell.spent).End('}');
  }
  json.End(']').Key("state").Text(cap.phase);
  json.Key("void").Boolean(cap.is_void()).Key("supersededBy").Text(cap.superseded_by).End('}');
}

void WriteResource(const Statement& statement, JsonWriter& json) {
  const Facts& facts = statement.facts;
  json.Key("resource").Begin('{');
  json.Key("name").Text(facts.name).Key("kind").Text(Name(facts.kind));
  json.Key("displayName").Text(facts.display_name).Key("group").Text(facts.group);
  json.Key("state").Text(facts.state).Key("stateReason").Text(facts.state_reason);
  json.Key("privacyUnit").Text(facts.privacy_unit);
  json.Key("neighboringRelation").Text(std::string(accounting::Name(facts.relation)));
  json.Key("acceptedChargeCount").Integer(facts.accepted_charge_count);
  json.Key("refusedChargeCount").Integer(facts.refused_charge_count);
  json.Key("history").Texts(statement.history).End('}');
}

void WriteSampling(const Facts& facts, JsonWriter& json) {
  const core::Provenance& provenance = facts.provenance;
  json.Key("sampling").Begin('{').Key("attemptCount").Integer(facts.attempt_count);
  json.Key("newestAttempt").Begin('{');
  json.Key("sampler").Text(provenance.sampler.has_value() ? core::Name(*provenance.sampler) : "");
  json.Key("clipNorm").Number(provenance.clip_norm);
  json.Key("library").Text(provenance.library);
  json.Key("libraryVersion").Text(provenance.library_version).End('}');
  std::vector<std::string> normalizers;
  for (const std::optional<core::Normalizer>& normalizer : facts.normalizers) {
    normalizers.push_back(normalizer.has_value() ? core::Name(*normalizer) : "");
  }
  json.Key("normalizers").Texts(normalizers);
  json.Key("caveat").Text(SamplingCaveat()).End('}');
}

void WriteClaim(const core::Claim& claim, JsonWriter& json) {
  json.Key("claim").Begin('{').Key("status").Text(Name(claim.status));
  json.Key("epsilon").Number(claim.epsilon).Key("delta").Number(claim.delta);
  json.Key("source").Text(claim.source).Key("label").Text(core::LabelOf(claim.status));
  json.Key("counterexampleKnown")
      .Boolean(claim.status == core::ClaimStatus::kCounterexampleKnown)
      .End('}');
}

void WriteAudits(const Statement& statement, JsonWriter& json) {
  json.Key("audits").Begin('[');
  for (size_t i = 0; i < statement.audited.size(); ++i) {
    const core::AuditRecord& audit = statement.facts.audits[i];
    json.Begin('{').Key("method").Text(core::Name(audit.method));
    json.Key("epsilonLowerBound").Number(audit.epsilon_lower).Key("delta").Number(audit.delta);
    json.Key("confidence").Number(audit.confidence).Key("trials").Integer(audit.trials);
    json.Key("ifGaussianTradeOff")
        .Boolean(audit.hypothesis == accounting::AuditHypothesis::kGaussianTradeOff);
    if (audit.mu_lower.has_value()) json.Key("muLowerBound").Number(*audit.mu_lower);
    if (audit.claimed_epsilon.has_value())
      json.Key("claimedEpsilon").Number(*audit.claimed_epsilon);
    json.Key("exceedsClaim").Boolean(statement.audited[i].exceeds_claim);
    json.Key("exceedsProven").Boolean(statement.audited[i].exceeds_proven);
    json.Key("source").Text(audit.source).End('}');
  }
  json.End(']');
}

void WriteRecorded(const core::Recorded& by, JsonWriter& json) {
  json.Key("recordedBy").Text(by.principal).Key("entry").Integer(by.sequence);
  json.Key("time").Text(DateOf(by));
}

void WriteAnnotations(const Facts& facts, JsonWriter& json) {
  json.Key("annotations").Begin('[');
  for (const AnnotationLine& line : facts.annotations) {
    json.Begin('{').Key("topic").Text(core::Name(line.topic)).Key("text").Text(line.text);
    json.Key("resource").Text(line.resource);
    WriteRecorded(line.by, json);
    json.End('}');
  }
  json.End(']').Key("signOffs").Begin('[');
  for (const core::RecordedSignOff& recorded : facts.sign_offs) {
    const core::SignOff& sign_off = recorded.sign_off;
    json.Begin('{').Key("signer").Text(sign_off.signer).Key("role").Text(sign_off.role);
    json.Key("comment").Text(sign_off.comment);
    json.Key("statementSha256").Text(absl::BytesToHexString(sign_off.statement_sha256));
    json.Key("statementSequence").Integer(sign_off.statement_sequence);
    json.Key("epsilon").Number(sign_off.epsilon).Key("delta").Number(sign_off.delta);
    WriteRecorded(recorded.by, json);
    json.End('}');
  }
  json.End(']');
}

}  // namespace

std::string ToJson(const Statement& statement) {
  const Facts& facts = statement.facts;
  JsonWriter json;
  json.Begin('{').Key("privacyStatement").Integer(1);
  WriteResource(statement, json);
  json.Key("delta").Number(statement.delta).Key("epsilon");
  Write(statement.best, json);
  json.Key("covers").Text(Coverage(facts)).Key("warnings").Texts(Warnings(statement));
  json.Key("accountants").Begin('[');
  for (const Reading& reading : statement.readings) Write(reading, json);
  json.End(']').Key("caps").Begin('[');
  for (const CapAccount& cap : facts.caps) Write(cap, json);
  json.End(']');
  if (facts.claim.has_value()) WriteClaim(*facts.claim, json);
  if (facts.kind != Facts::Kind::kBudget) WriteAudits(statement, json);
  WriteSampling(facts, json);
  WriteAnnotations(facts, json);
  json.Key("notCovered").Texts(NotCovered(facts));
  json.Key("ledger")
      .Begin('{')
      .Key("tenant")
      .Text(facts.tenant)
      .Key("rootBudget")
      .Text(facts.root_budget);
  json.Key("sequence").Integer(facts.head.sequence).Key("hash").Text(Hex(facts.head.hash));
  json.Key("merkleRoot").Text(Hex(facts.merkle_root));
  if (!facts.store.empty()) json.Key("store").Text(facts.store);
  if (!facts.incarnation.empty()) json.Key("incarnation").Text(facts.incarnation);
  json.End('}');
  // These hashes bring the other forms under the signature.
  json.Key("textSha256").Text(Sha256(ToText(statement)));
  json.Key("htmlSha256").Text(Sha256(ToHtml(statement)));
  json.Key("time").Text(statement.time).Key("server").Text(facts.server_name);
  json.Key("serverVersion").Text(statement.server_version);
  return json.End('}').Take();
}

}  // namespace epsledger::statement
