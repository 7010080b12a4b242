// The form for paper: one file without scripts that fetches nothing.

#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "server/core/policy.h"
#include "server/statement/statement.h"

namespace epsledger::statement {
namespace {

constexpr std::string_view kHead = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Privacy statement</title><style>
@page{size:A4;margin:18mm 16mm}
*{box-sizing:border-box}
body{font:10.5pt/1.45 Georgia,"Times New Roman",serif;color:#1b1f24;max-width:46rem;margin:2.5rem auto;
padding:0 1.5rem}
header{border-bottom:2px solid #1b1f24;padding-bottom:.7rem;margin-bottom:1.2rem}
.kind{font:600 8.5pt/1 Helvetica,Arial,sans-serif;letter-spacing:.12em;text-transform:uppercase;
color:#57606a}
h1{font-size:17pt;line-height:1.2;margin:.4rem 0 0;overflow-wrap:anywhere}
header p{margin:.2rem 0 0;color:#57606a;overflow-wrap:anywhere}
h2{font:600 9.5pt/1.2 Helvetica,Arial,sans-serif;letter-spacing:.04em;margin:1.5rem 0 .4rem;
break-after:avoid}
.warning{border:1.5px solid #9a1c1c;background:#fdf3f2;color:#7a1414;padding:.5rem .8rem;margin:0 0 .6rem;
font-weight:bold}
.number{display:flex;gap:2.5rem;align-items:baseline;margin:.3rem 0 .6rem}
.number div{font-size:26pt;line-height:1.1;font-variant-numeric:tabular-nums}
.number small,th{font:600 8pt/1.3 Helvetica,Arial,sans-serif;color:#57606a}
.number small{display:block}
.claim{border-left:3px solid #9a6a00;padding-left:.8rem;color:#5f4200}
table{border-collapse:collapse;width:100%;margin:.2rem 0 .4rem;font-size:9.5pt}
th{text-align:left;border-bottom:1px solid #8c959f}
th,td{padding:.22rem .7rem .22rem 0;vertical-align:top;overflow-wrap:anywhere}
td{border-bottom:1px solid #e3e6ea}
tr{break-inside:avoid}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.answers td:first-child{white-space:nowrap}
.caps td:first-child{width:11rem}.caps td:last-child{width:14rem}
td small{color:#57606a}
.facts td:first-child{width:11rem;color:#57606a}
.mute td{color:#767e87}
ul{margin:.2rem 0;padding-left:1.1rem}
code{font:8.5pt/1.4 "DejaVu Sans Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere}
.sign{display:flex;gap:2rem;margin-top:2.6rem;break-inside:avoid}
.sign div{flex:1;border-top:1px solid #1b1f24;padding-top:.25rem;color:#57606a;font-size:9pt}
@media print{body{margin:0;padding:0;max-width:none}}
</style></head><body>
)html";

std::string Hex(const core::Hash& hash) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

// Returns text escaped for any place where HTML takes text.
std::string Escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        // HTML does not allow control characters.
        html += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return html;
}

std::string Element(std::string_view tag, std::string_view attributes, std::string_view text) {
  return absl::StrCat("<", std::string(tag), attributes.empty() ? "" : " ", std::string(attributes),
                      ">", Escaped(text), "</", std::string(tag), ">");
}

std::string Fact(std::string_view label, std::string_view value) {
  return absl::StrCat("<tr>", Element("td", "", label), Element("td", "", value), "</tr>\n");
}

std::string CodeFact(std::string_view label, std::string_view value) {
  return absl::StrCat("<tr>", Element("td", "", label), "<td>", Element("code", "", value),
                      "</td></tr>\n");
}

std::string List(const std::vector<std::string>& sentences) {
  std::string html = "<ul>";
  for (const std::string& sentence : sentences) absl::StrAppend(&html, Element("li", "", sentence));
  return html + "</ul>\n";
}

std::string Headline(const Statement& statement) {
  const Reading& best = statement.best;
  const bool proven = HasFiniteEpsilon(statement);
  std::string html = absl::StrCat(
      "<div class=number><div>&epsilon; &le; ",
      proven ? Escaped(ShownRoundedUp(*best.guarantee->upper)) : "&infin; (none is proven)",
      "<small>upper bound, rounded up</small></div><div>&delta; = ",
      Escaped(accounting::FormatDouble(statement.delta)), "</div></div>\n<table class=facts>");
  if (best.guarantee.has_value()) {
    absl::StrAppend(&html, Fact("Accountant", best.by), Fact("Theorem", best.guarantee->theorem));
  } else {
    absl::StrAppend(&html, Fact("No bound because", best.reason_unavailable));
  }
  const Facts& facts = statement.facts;
  absl::StrAppend(&html, Fact("Privacy unit", facts.privacy_unit),
                  Fact("Neighboring relation", std::string(accounting::Name(facts.relation))));
  if (!facts.group.empty()) absl::StrAppend(&html, Fact("Search group", facts.group));
  return absl::StrCat(html,
                      Fact("State", facts.state_reason.empty()
                                        ? facts.state
                                        : absl::StrCat(facts.state, ": ", facts.state_reason)),
                      Fact("What it covers", Coverage(facts)), "</table>\n");
}

std::string AccountantRow(const Reading& reading) {
  const std::string name = Element("td", "", reading.by);
  if (!reading.guarantee.has_value() || !reading.guarantee->upper.has_value()) {
    return absl::StrCat("<tr class=mute>", name, "<td class=n>&ndash;</td>",
                        Element("td", "", reading.reason_unavailable), "</tr>\n");
  }
  const accounting::Guarantee& guarantee = *reading.guarantee;
  const bool bound = guarantee.kind == accounting::GuaranteeKind::kUpperBound;
  return absl::StrCat(bound ? "<tr>" : "<tr class=mute>", name,
                      Element("td", "class=n", ShownRoundedUp(*guarantee.upper)), "<td>",
                      bound ? "" : "<strong>approximation, not a bound.</strong> ",
                      Escaped(guarantee.theorem), "</td></tr>\n");
}

std::string CapRows(const CapAccount& cap) {
  std::string html =
      absl::StrCat("<tr><td>", Element("strong", "", cap.name), cap.phase.empty() ? "" : "<br>",
                   Escaped(cap.phase), cap.is_void() ? ", <strong>void</strong>" : "", "</td><td>",
                   Escaped(cap.cap), "<br>", Element("small", "", cap.theorem), "</td><td>");
  for (const std::string& line : SpentLines(cap)) absl::StrAppend(&html, Escaped(line), "<br>");
  return html + "</td></tr>\n";
}

std::string AuditList(const std::vector<AuditedLine>& audited) {
  if (audited.empty()) return "";
  std::string html = "<h2>Audited, as whoever ran the audits says</h2><ul>";
  for (const AuditedLine& line : audited) {
    absl::StrAppend(&html, "<li>", Escaped(line.text),
                    line.exceeds_claim ? " <strong>Above the claim.</strong>" : "",
                    line.exceeds_proven ? " <strong>Above the proven epsilon.</strong>" : "",
                    line.source.empty() ? "" : " &ndash; ", Escaped(line.source), "</li>");
  }
  return html + "</ul>\n";
}

std::string AnnotationTable(const Facts& facts) {
  std::string html;
  if (!facts.annotations.empty()) {
    absl::StrAppend(&html, "<h2>What people say; nothing of it is checked</h2>",
                    "<table class=facts>");
    for (const AnnotationLine& line : facts.annotations) {
      absl::StrAppend(&html, "<tr>", Element("td", "", Heading(line.topic)), "<td>",
                      Escaped(line.text), "<br>", Element("small", "", SourceOf(line)),
                      "</td></tr>\n");
    }
    absl::StrAppend(&html, "</table>\n");
  }
  if (!facts.sign_offs.empty()) {
    std::vector<std::string> lines;
    for (const core::RecordedSignOff& recorded : facts.sign_offs)
      lines.push_back(SignOffLine(recorded));
    absl::StrAppend(&html, "<h2>Signed off</h2>", List(lines));
  }
  return html;
}

std::string Claims(const Facts& facts) {
  const core::Provenance& provenance = facts.provenance;
  std::string html = "<h2>What the clients claim</h2>";
  if (facts.claim.has_value()) {
    absl::StrAppend(
        &html,
        Element("p", "class=claim",
                absl::StrCat("The authors claim epsilon ",
                             accounting::FormatDouble(facts.claim->epsilon), " at delta ",
                             accounting::FormatDouble(facts.claim->delta),
                             facts.claim->source.empty() ? "" : ", source: ", facts.claim->source,
                             ". A claim, not a result of this ledger. Label: ",
                             core::LabelAndFlag(facts.claim->status), ".")));
  } else if (facts.kind != Facts::Kind::kBudget) {
    absl::StrAppend(&html, Element("p", "", "No claim was made of the algorithm."));
  }
  if (facts.kind != Facts::Kind::kBudget) {
    absl::StrAppend(
        &html, "<table class=facts>", Fact("Attempts", absl::StrCat(facts.attempt_count)),
        Fact("Sampler (newest)",
             provenance.sampler.has_value() ? core::Name(*provenance.sampler) : "not said"),
        Fact("Clip norm (newest)", provenance.clip_norm > 0
                                       ? accounting::FormatDouble(provenance.clip_norm)
                                       : "not said"),
        Fact("Library (newest)",
             provenance.library.empty()
                 ? "not said"
                 : absl::StrCat(provenance.library, " ", provenance.library_version)),
        Fact("Divided by", NormalizerNames(facts)), "</table>");
  } else {
    absl::StrAppend(&html, "<table class=facts>", Fact("Divided by", NormalizerNames(facts)),
                    "</table>");
  }
  return html + Element("p", "", SamplingCaveat()) + "\n";
}

}  // namespace

std::string ToHtml(const Statement& statement) {
  const Facts& facts = statement.facts;
  std::string html(kHead);
  absl::StrAppend(
      &html, "<header><div class=kind>Privacy statement</div>", Element("h1", "", facts.name),
      facts.display_name.empty() ? "" : Element("p", "", facts.display_name), "</header>\n");
  for (const std::string& warning : Warnings(statement)) {
    absl::StrAppend(&html, Element("p", "class=warning", warning), "\n");
  }
  absl::StrAppend(&html, Headline(statement), "<h2>Epsilon at this delta, by every accountant</h2>",
                  "<table class=answers><tr><th>Accountant<th class=n>Epsilon<th>Theorem</tr>\n");
  for (const Reading& reading : statement.readings) absl::StrAppend(&html, AccountantRow(reading));
  absl::StrAppend(&html,
                  "</table>\n<h2>Caps and what is spent</h2><table "
                  "class=caps><tr><th>Of<th>Cap, and why stopping there keeps it<th>Spent</tr>\n");
  for (const CapAccount& cap : facts.caps) absl::StrAppend(&html, CapRows(cap));
  absl::StrAppend(&html, "</table>\n");
  absl::StrAppend(&html, "<p>", facts.accepted_charge_count, " charges accepted, ",
                  facts.refused_charge_count, " refused.</p>\n");
  if (!statement.history.empty())
    absl::StrAppend(&html, "<h2>Charged</h2>", List(statement.history));
  absl::StrAppend(
      &html, Claims(facts), AuditList(statement.audited), AnnotationTable(facts),
      "<h2>Not covered</h2>", List(NotCovered(facts)), "<h2>The ledger</h2><table class=facts>",
      Fact("Tenant", facts.tenant.empty() ? "(the one without a name)" : facts.tenant),
      Fact("Root budget", facts.root_budget), Fact("Entries", absl::StrCat(facts.head.sequence)),
      CodeFact("Head", Hex(facts.head.hash)), CodeFact("Merkle root", Hex(facts.merkle_root)),
      facts.store.empty() ? "" : CodeFact("Store", facts.store),
      facts.incarnation.empty() ? "" : CodeFact("Incarnation", facts.incarnation),
      Fact("Time", statement.time),
      Fact("Server", absl::StrCat(facts.server_name, facts.server_name.empty() ? "" : ", ",
                                  "epsledger ", statement.server_version)),
      "</table>\n",
      "<div class=sign><div>Place and date</div><div>Name and signature</div></div>\n",
      "</body></html>\n");
  return html;
}

}  // namespace epsledger::statement
