// The form for mail and terminals.

#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/printable.h"
#include "server/core/policy.h"
#include "server/statement/statement.h"

namespace epsledger::statement {
namespace {

std::string Hex(const core::Hash& hash) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

// Writes text of users on one line, so that no display name can forge a separate line.
std::string OneLine(std::string_view text) { return accounting::Escaped(text); }

std::string Line(std::string_view label, std::string_view value) {
  std::string line(label);
  line.resize(24, ' ');
  return absl::StrCat(line, std::string(value), "\n");
}

std::string Row(const Reading& reading) {
  const std::string& name = reading.by;
  if (!reading.guarantee.has_value() || !reading.guarantee->upper.has_value()) {
    return Line("  " + name, "no answer: " + OneLine(reading.reason_unavailable));
  }
  const accounting::Guarantee& guarantee = *reading.guarantee;
  const bool bound = guarantee.kind == accounting::GuaranteeKind::kUpperBound;
  return Line("  " + name, absl::StrCat(ShownRoundedUp(*guarantee.upper),
                                        bound ? "" : " (approximation, not a bound)", " by ",
                                        guarantee.theorem));
}

std::string CapLines(const CapAccount& cap) {
  std::string text = Line("  " + cap.name, absl::StrCat(cap.cap, cap.phase.empty() ? "" : ", ",
                                                        cap.phase, cap.is_void() ? ", VOID" : ""));
  absl::StrAppend(&text, "    ", cap.theorem, "\n");
  for (const std::string& line : SpentLines(cap)) {
    absl::StrAppend(&text, "    ", line, "\n");
  }
  return text;
}

std::string Bullets(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) absl::StrAppend(&text, "  * ", sentence, "\n");
  return text;
}

std::string AuditLines(const std::vector<AuditedLine>& audited) {
  std::string text;
  for (const AuditedLine& line : audited) {
    absl::StrAppend(&text, "  * ", line.text, line.exceeds_claim ? " - ABOVE THE CLAIM" : "",
                    line.exceeds_proven ? " - ABOVE THE PROVEN EPSILON" : "",
                    line.source.empty() ? "" : " - ", OneLine(line.source), "\n");
  }
  return text;
}

std::string AnnotationLines(const Facts& facts) {
  std::string text;
  if (!facts.annotations.empty()) {
    absl::StrAppend(&text, "What people say; nothing of it is checked\n");
    for (const AnnotationLine& line : facts.annotations) {
      absl::StrAppend(&text, "  * ", Heading(line.topic), ": ", OneLine(line.text), "\n    ",
                      OneLine(SourceOf(line)), "\n");
    }
    absl::StrAppend(&text, "\n");
  }
  if (!facts.sign_offs.empty()) {
    absl::StrAppend(&text, "Signed off\n");
    for (const core::RecordedSignOff& recorded : facts.sign_offs) {
      absl::StrAppend(&text, "  * ", SignOffLine(recorded), "\n");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string SamplingLines(const Facts& facts) {
  const core::Provenance& provenance = facts.provenance;
  std::string text = "What the clients claim\n";
  if (facts.kind != Facts::Kind::kBudget) {
    absl::StrAppend(&text, Line("  attempts", absl::StrCat(facts.attempt_count)));
    absl::StrAppend(
        &text, Line("  sampler (newest)",
                    provenance.sampler.has_value() ? core::Name(*provenance.sampler) : "not said"));
    absl::StrAppend(
        &text, Line("  library (newest)", provenance.library.empty()
                                              ? "not said"
                                              : absl::StrCat(OneLine(provenance.library), " ",
                                                             OneLine(provenance.library_version))));
  }
  absl::StrAppend(&text, Line("  divided by", NormalizerNames(facts)));
  return absl::StrCat(text, "  ", SamplingCaveat(), "\n\n");
}

}  // namespace

std::string ToText(const Statement& statement) {
  const Facts& facts = statement.facts;
  std::string text =
      absl::StrCat("PRIVACY STATEMENT\n", facts.name, facts.display_name.empty() ? "" : " (",
                   OneLine(facts.display_name), facts.display_name.empty() ? "" : ")", "\n\n");
  const std::vector<std::string> warnings = Warnings(statement);
  if (!warnings.empty()) absl::StrAppend(&text, "WARNINGS\n", Bullets(warnings), "\n");
  if (HasFiniteEpsilon(statement)) {
    absl::StrAppend(&text,
                    Line("epsilon", absl::StrCat(ShownRoundedUp(*statement.best.guarantee->upper),
                                                 " (upper bound, rounded up)")),
                    Line("at delta", accounting::FormatDouble(statement.delta)),
                    Line("accountant", statement.best.by),
                    Line("theorem", statement.best.guarantee->theorem));
  } else {
    absl::StrAppend(
        &text,
        Line("epsilon", statement.best.guarantee.has_value()
                            ? "none is proven (infinity)"
                            : "none is proven: " + OneLine(statement.best.reason_unavailable)),
        Line("at delta", accounting::FormatDouble(statement.delta)));
  }
  absl::StrAppend(&text, Line("privacy unit", OneLine(facts.privacy_unit)),
                  Line("neighboring relation", std::string(accounting::Name(facts.relation))),
                  Line("state", facts.state), "\n", Coverage(facts), "\n\n");
  if (facts.claim.has_value()) {
    absl::StrAppend(&text, "The authors claim epsilon ",
                    accounting::FormatDouble(facts.claim->epsilon), " at delta ",
                    accounting::FormatDouble(facts.claim->delta), " (",
                    OneLine(facts.claim->source), "): a claim, not a result of this ledger.\n",
                    "Label: ", core::LabelAndFlag(facts.claim->status), ".\n\n");
  }
  if (!statement.audited.empty()) {
    absl::StrAppend(&text, "Audited, as whoever ran the audits says\n",
                    AuditLines(statement.audited), "\n");
  }
  absl::StrAppend(&text, "Epsilon at this delta by every accountant\n");
  for (const Reading& reading : statement.readings) absl::StrAppend(&text, Row(reading));
  absl::StrAppend(&text, "\nCaps and what is spent\n");
  for (const CapAccount& cap : facts.caps) absl::StrAppend(&text, CapLines(cap));
  absl::StrAppend(&text, "\n");
  if (!statement.history.empty())
    absl::StrAppend(&text, "Charged\n", Bullets(statement.history), "\n");
  absl::StrAppend(
      &text, SamplingLines(facts), AnnotationLines(facts), "Not covered\n",
      Bullets(NotCovered(facts)), "\nLedger\n",
      Line("  tenant", facts.tenant.empty() ? "(the one without a name)" : facts.tenant),
      Line("  root budget", facts.root_budget),
      Line("  entries", absl::StrCat(facts.head.sequence)), Line("  head", Hex(facts.head.hash)),
      Line("  Merkle root", Hex(facts.merkle_root)),
      facts.store.empty() ? "" : Line("  store", facts.store),
      facts.incarnation.empty() ? "" : Line("  incarnation", facts.incarnation),
      Line("time", statement.time),
      Line("server", absl::StrCat(OneLine(facts.server_name), facts.server_name.empty() ? "" : ", ",
                                  "epsledger ", statement.server_version)));
  return text;
}

}  // namespace epsledger::statement
