#include "server/statement/statement.h"
#include "server/core/codec.h"
#include "server/core/describe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/printable.h"
#include "server/core/policy.h"

namespace epsledger::statement {
namespace {

using accounting::Accountant;

Reading Ask(Accountant accountant, accounting::Question& question) {
  question.accountant = accountant;
  Reading reading{.by = std::string(accounting::Name(accountant))};
  absl::StatusOr<accounting::Guarantee> guarantee = accounting::Answer(question);
  if (guarantee.ok()) {
    if (accountant == Accountant::kBest) {
      reading.by = std::string(accounting::Name(guarantee->accountant));
    }
    reading.guarantee = *std::move(guarantee);
  } else {
    reading.reason_unavailable = std::string(guarantee.status().message());
  }
  return reading;
}

// Returns the guarantee of a filter, if it says something at `delta`.
std::optional<Reading> AskFilter(const Facts& facts, double delta) {
  if (!facts.kept_by_filter.has_value() || facts.kept_by_filter->delta > delta) return std::nullopt;
  Reading reading{.by = "FILTER"};
  reading.guarantee = accounting::Guarantee{.kind = accounting::GuaranteeKind::kUpperBound,
                                            .theorem = facts.caps.front().theorem,
                                            .upper = facts.kept_by_filter->epsilon};
  return reading;
}

double UpperOf(const Reading& reading) {
  const bool known = reading.guarantee.has_value() && reading.guarantee->upper.has_value();
  return known ? *reading.guarantee->upper : accounting::kInfinity;
}

// Returns `value` with `digits` digits, rounded `up` or down.
std::string Shown(double value, int digits, bool up) {
  const auto format = [digits](double number) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.*g", digits, number);
    return std::string(text);
  };
  std::string text = format(value);
  const double shown = std::strtod(text.c_str(), nullptr);
  if (up ? shown >= value : shown <= value) return text;
  const double unit = std::pow(10, std::floor(std::log10(std::fabs(value))) - (digits - 1));
  return format(up ? value + unit : value - unit);
}

std::string Shown(double value, bool up) {
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  // 1 + 2^-32 is 1.0000000003 and not 1.00001.
  const double nearest = std::strtod(Shown(value, 6, !up).c_str(), nullptr);
  const bool is_near = std::fabs(value - nearest) <= 0x1p-30 * std::fabs(value);
  return Shown(value, is_near && value != nearest ? 11 : 6, up);
}

std::vector<std::string> HistoryLines(const std::vector<accounting::CountedEvent>& history) {
  std::vector<std::string> lines;
  size_t bytes = 0;
  for (const accounting::CountedEvent& charged : history) {
    if (lines.size() == kMaxHistoryLines || bytes >= kMaxHistoryBytes) {
      lines.push_back(
          absl::StrFormat("and %d more kinds of event, which epsctl session history lists",
                          history.size() - lines.size()));
      break;
    }
    lines.push_back(
        absl::StrCat(charged.count, " x ",
                     core::Describe(*charged.event, core::EncodeEvent(*charged.event).size(),
                                    kMaxHistoryLineBytes)));
    bytes += lines.back().size();
  }
  return lines;
}

// Compares every audit with the proven epsilon at the audit's own delta, which is computed once for
// each delta.
std::vector<AuditedLine> Audited(const Facts& facts, accounting::Question& question) {
  std::map<double, double> proven;
  std::vector<AuditedLine> lines;
  for (const core::AuditRecord& audit : facts.audits) {
    const auto [at, is_new] = proven.try_emplace(audit.delta, accounting::kInfinity);
    if (is_new) {
      question.query = accounting::EpsilonAtDelta::FromDelta(audit.delta);
      at->second = UpperOf(Ask(Accountant::kBest, question));
    }
    lines.push_back({.text = core::Describe(audit),
                     .source = audit.source,
                     .exceeds_claim = core::ExceedsClaim(audit, facts.claim),
                     .exceeds_proven = audit.epsilon_lower > at->second});
  }
  return lines;
}

// Returns why the charges do not cover the number that noisy sums are divided by, or "" if they do:
// accounting/README.md, "What a noisy sum is divided by".
std::string DivisorSentence(const std::optional<core::Normalizer>& normalizer,
                            accounting::NeighboringRelation relation) {
  const std::string what = "The number that noisy sums were divided by: ";
  const std::string left_out =
      "wo neighboring data sets can have different divisors, which the epsilon leaves out.";
  if (!normalizer.has_value()) {
    return absl::StrCat(what, "clients did not say what it is. If it depends on the data, t",
                        left_out);
  }
  switch (*normalizer) {
    case core::Normalizer::kPublicConstant:
    case core::Normalizer::kExpectedFromPublicCount:
      return "";
    case core::Normalizer::kExpectedFromPrivateCount:
      // All data sets that this relation calls neighbors have the same number of records.
      if (relation == accounting::NeighboringRelation::kReplaceOne) return "";
      return absl::StrCat(what,
                          "an expected batch size, computed from the number of records in the data "
                          "set. T",
                          left_out);
    case core::Normalizer::kSampledBatchSize:
      return absl::StrCat(what, "the number of records in the batch that was drawn. T", left_out);
  }
  return absl::StrCat(what, "it is not known here. T", left_out);
}

std::string RecordedText(const core::Recorded& by) {
  return absl::StrCat(by.principal.empty() ? "" : "by ", by.principal,
                      by.principal.empty() ? "in entry " : ", entry ", by.sequence, ", ",
                      DateOf(by));
}

}  // namespace

absl::StatusOr<Statement> Compose(Facts facts, double delta, std::string time,
                                  std::string server_version, absl::FunctionRef<bool()> abandoned) {
  if (facts.kept_by_filter.has_value() && facts.delta_of_cap <= delta) {
    delta = std::max(delta, facts.kept_by_filter->delta);
  }
  accounting::Question question;
  question.relation = facts.relation;
  question.events = facts.events;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  Statement statement{.facts = std::move(facts),
                      .delta = delta,
                      .time = std::move(time),
                      .server_version = std::move(server_version)};
  const std::optional<Reading> filter = AskFilter(statement.facts, delta);
  if (filter.has_value()) statement.readings.push_back(*filter);
  for (const Accountant accountant :
       {Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal, Accountant::kRenyi,
        Accountant::kMoments, Accountant::kZcdp, Accountant::kGaussian, Accountant::kPld,
        Accountant::kTradeOff, Accountant::kClt}) {
    if (abandoned()) return absl::CancelledError("nobody waits for the statement any more");
    statement.readings.push_back(Ask(accountant, question));
  }
  statement.best = Ask(Accountant::kBest, question);
  if (filter.has_value() && UpperOf(*filter) <= UpperOf(statement.best)) statement.best = *filter;
  if (abandoned()) return absl::CancelledError("nobody waits for the statement any more");
  statement.audited = Audited(statement.facts, question);
  statement.history = HistoryLines(statement.facts.history);
  return statement;
}

std::string Coverage(const Facts& facts) {
  std::string text;
  switch (facts.kind) {
    case Facts::Kind::kBudget:
      text =
          "Everything that is ever charged to this budget together: the filter stops before its "
          "cap is exceeded. ";
      break;
    case Facts::Kind::kDeclaredSession:
      text =
          "The whole plan that the session committed to before it started, also if it stops early: "
          "its parameters were fixed in advance. ";
      break;
    case Facts::Kind::kAdaptiveSession:
      text =
          "What the session was charged up to the ledger head below, if the parameters of its "
          "steps did not depend on their outputs. If they did, the caps below hold, by the "
          "theorems of their filters. ";
      break;
  }
  // accounting/filter/README.md, "Scope".
  if (facts.kind != Facts::Kind::kBudget) {
    return text +
           "The number is about this session alone: what else was released about the same people "
           "is not in it, and must not have been used to choose its steps. The statement of the "
           "root budget covers everything together, without this condition.";
  }
  switch (facts.scope) {
    case Facts::Scope::kRoot:
      return text +
             "Each step may depend on everything that was released before it under this budget.";
    case Facts::Scope::kPart:
      return text +
             "The people of this part are in no other part, whose releases change nothing here. "
             "Each step may depend on everything that was released before it under this budget, "
             "and on other parts, but not on what sessions of the budgets above released about the "
             "same people. The statement of the root budget covers everything together.";
    case Facts::Scope::kBelow:
      return text +
             "Each step may depend on everything that was released before it under this budget, "
             "but on nothing else that was released about the same people. What the budgets above "
             "have left, and what they refuse, counts as released. The statement of the root "
             "budget covers everything together, without this condition.";
  }
  return text;
}

std::string SamplingCaveat() {
  return "The ledger accounts for what clients claim. It cannot see their code: whether batches "
         "were "
         "drawn as claimed, contributions clipped, or noise drawn and of good quality.";
}

std::vector<std::string> NotCovered(const Facts& facts) {
  std::vector<std::string> sentences;
  for (const std::optional<core::Normalizer>& normalizer : facts.normalizers) {
    std::string sentence = DivisorSentence(normalizer, facts.relation);
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  const std::vector<std::string> always = {
      "Evaluation on private data: accuracy, loss curves, early stopping, unless charged.",
      "Hyper-parameter search, unless its runs, or a repeat_and_select event, were charged.",
      "Side channels: timing, memory, logs, files beside the released output.",
      "The floating-point arithmetic of the noise, which is not the real numbers of the theorem.",
      "Other releases about the same people that were not charged to this ledger."};
  sentences.insert(sentences.end(), always.begin(), always.end());
  return sentences;
}

std::string NormalizerNames(const Facts& facts) {
  if (facts.normalizers.empty()) return "nothing was charged";
  return absl::StrJoin(facts.normalizers, ", ", [](std::string* out, const auto& normalizer) {
    *out += normalizer.has_value() ? core::Name(*normalizer) : "not said";
  });
}

std::vector<std::string> Warnings(const Statement& statement) {
  std::vector<std::string> warnings;
  const Facts& facts = statement.facts;
  for (const CapAccount& cap : facts.caps) {
    if (!cap.is_void()) continue;
    warnings.push_back(absl::StrCat("The guarantee of ", cap.name,
                                    " is void: it was superseded by ", cap.superseded_by, "."));
  }
  if (core::IsUnproven(facts.claim)) {
    warnings.push_back(absl::StrCat("This session is ", core::LabelAndFlag(facts.claim->status),
                                    ": no epsilon of it is proven."));
  }
  for (const AuditedLine& audited : statement.audited) {
    if (audited.exceeds_claim) {
      warnings.push_back(absl::StrCat("An audit exceeds the claim: ", audited.text, "."));
    }
    if (audited.exceeds_proven) {
      warnings.push_back(absl::StrCat(
          "An audit exceeds the proven epsilon: ", audited.text,
          "; the run does not do what was charged, or the audit is one of the few that err."));
    }
  }
  if (statement.best.guarantee.has_value() && statement.best.guarantee->contains_unverified_claim) {
    warnings.push_back("The charges hold an unverified claim: the epsilon is only as good as it.");
  }
  return warnings;
}

std::string DateOf(const core::Recorded& by) {
  return absl::FormatCivilTime(absl::CivilDay(1970, 1, 1) + core::DayOf(by.time_micros));
}

std::string Heading(core::AnnotationTopic topic) {
  std::string heading = core::Name(topic);
  for (size_t i = 1; i < heading.size(); ++i) {
    heading[i] = heading[i] == '_' ? ' ' : absl::ascii_tolower(heading[i]);
  }
  return heading;
}

std::string SourceOf(const AnnotationLine& line) {
  return absl::StrCat("as recorded for ", line.resource, " ", RecordedText(line.by));
}

std::string SignOffLine(const core::RecordedSignOff& recorded) {
  const std::string& comment = recorded.sign_off.comment;
  return absl::StrCat(
      core::Describe(recorded.sign_off),
      comment.empty() ? "" : absl::StrCat(": \"", accounting::Escaped(comment), "\""),
      "; recorded ", RecordedText(recorded.by));
}

bool HasFiniteEpsilon(const Statement& statement) { return std::isfinite(UpperOf(statement.best)); }

std::vector<std::string> SpentLines(const CapAccount& cap) {
  const auto line = [](const CapAccount::Cell& cell) {
    return absl::StrCat(
        cell.quantity,
        cell.order > 0 ? " at order " + accounting::FormatDouble(cell.order) : std::string(), ": ",
        ShownRoundedUp(cell.spent), " of ", ShownRoundedDown(cell.cap));
  };
  std::vector<std::string> lines;
  if (cap.all_cells_must_fit) {
    for (const CapAccount::Cell& cell : cap.cells) lines.push_back(line(cell));
    return lines;
  }
  // The reserve is a part of the units before it, not a way of its own.
  std::vector<CapAccount::Cell> ways;
  for (const CapAccount::Cell& cell : cap.cells) {
    if (cell.quantity != "RESERVE") ways.push_back(cell);
  }
  if (ways.empty()) return lines;
  const auto has_room = [](const CapAccount::Cell& cell) {
    return cell.cap > 0 && cell.spent <= cell.cap;
  };
  // Units show what was planned: they come first while they have room.
  auto shown = std::find_if(ways.begin(), ways.end(), [&](const CapAccount::Cell& cell) {
    return cell.quantity == "UNITS" && has_room(cell);
  });
  if (shown == ways.end()) {
    shown = std::min_element(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
      return a.spent * b.cap < b.spent * a.cap;
    });
  }
  lines.push_back(line(*shown));
  lines.push_back(absl::StrCat("one of ", ways.size(), " must hold, ",
                               std::count_if(ways.begin(), ways.end(), has_room), " do"));
  return lines;
}

std::string ShownRoundedUp(double value) { return Shown(value, true); }
std::string ShownRoundedDown(double value) { return Shown(value, false); }

}  // namespace epsledger::statement
