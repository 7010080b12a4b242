// The forms that people read: Markdown.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/forms/form_filling.h"

namespace epsledger::cli {
namespace {

constexpr char kBlank[] = "_not stated_";

// A text for one line of Markdown that shows it as it is.
std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\n", " "},
                                    {"\\", "\\\\"},
                                    {"&", "&amp;"},
                                    {"~", "\\~"},
                                    {"$", "\\$"},
                                    {"|", "\\|"},
                                    {"<", "&lt;"},
                                    {"*", "\\*"},
                                    {"_", "\\_"},
                                    {"`", "\\`"},
                                    {"[", "\\["}});
}

std::string AnswerOrBlank(FormDraft& draft, const char* key) {
  const std::string answer = draft.Answer(key);
  return answer.empty() ? kBlank : Escaped(answer);
}

// With what takes from the guarantee before the number: a hurried reader reads no further.
std::string GuaranteeText(const StatementFields& statement) {
  const std::string cautions = Escaped(CautionText(statement));
  const std::string epsilon = EpsilonText(statement);
  if (epsilon.empty()) {
    return absl::StrCat(cautions, "no finite epsilon is known: no guarantee can be stated");
  }
  return absl::StrCat(cautions, "epsilon ", epsilon, " at delta ", DeltaText(statement),
                      ", an upper bound, rounded up");
}

void AddLine(const char* heading, const std::string& text, std::string* page) {
  absl::StrAppend(page, "* **", heading, ":** ", text, "\n");
}

void AddNotCovered(const StatementFields& statement, std::string* page) {
  for (const std::string& text : statement.not_covered) {
    absl::StrAppend(page, "* ", Escaped(text), "\n");
  }
}

}  // namespace

absl::StatusOr<FilledForm> FillNist800226(FormDraft draft) {
  std::string page = absl::StrCat(
      "# Differential privacy guarantee of ", Escaped(draft.statement.name),
      "\n\nA sheet for an evaluation along NIST SP 800-226, \"Guidelines for Evaluating "
      "Differential Privacy Guarantees\".\nWhat is marked _not stated_ was not answered by "
      "whoever filed this sheet.\n\n## Guarantee and unit\n\n");
  AddLine("Guarantee", GuaranteeText(draft.statement), &page);
  AddLine("Unit of privacy", Escaped(draft.statement.privacy_unit), &page);
  AddLine("Neighboring data sets", Escaped(AdjacencyText(draft.statement)), &page);
  AddLine("Contribution bounding", AnswerOrBlank(draft, "contributionBounding"), &page);
  AddLine("Quantities without protection", AnswerOrBlank(draft, "unprotectedQuantities"), &page);
  AddLine("Data domain", AnswerOrBlank(draft, "dataDomain"), &page);
  absl::StrAppend(&page, "\n## Parameters\n\n");
  AddLine("Why these", AnswerOrBlank(draft, "parameterRationale"), &page);
  absl::StrAppend(&page, "\n## Composition\n\n");
  AddLine("Accounting", Escaped(AccountingText(draft.statement)), &page);
  AddLine("Post-processing", AnswerOrBlank(draft, "postProcessing"), &page);
  absl::StrAppend(&page, "\n## Mechanisms\n\n");
  AddLine("Charged", Escaped(MechanismsText(draft.statement)), &page);
  AddLine("Preprocessing and tuning", AnswerOrBlank(draft, "preprocessing"), &page);
  absl::StrAppend(&page, "\n## Trust model\n\n");
  AddLine("Deployment model", AnswerOrBlank(draft, "deploymentModel"), &page);
  AddLine("Actors", AnswerOrBlank(draft, "actors"), &page);
  absl::StrAppend(&page, "\n## Side channels, access and security\n\n");
  AddLine("Side channels", AnswerOrBlank(draft, "sideChannels"), &page);
  AddLine("Security", AnswerOrBlank(draft, "security"), &page);
  absl::StrAppend(&page, "\n## Data collection exposure\n\n");
  AddLine("Collection", AnswerOrBlank(draft, "dataCollection"), &page);
  absl::StrAppend(&page, "\n## Not covered by the guarantee\n\n");
  AddNotCovered(draft.statement, &page);
  absl::StrAppend(&page, "\n## Source\n\n", Escaped(SourceText(draft)), ".\n");
  return FilledForm{.text = std::move(page), .blanks = std::move(draft.blanks)};
}

absl::StatusOr<FilledForm> FillModelCard(FormDraft draft) {
  std::string page =
      absl::StrCat("---\ntags:\n- differential-privacy\n---\n\n## Differential privacy\n\n",
                   "| | |\n|---|---|\n| guarantee | ", GuaranteeText(draft.statement),
                   " |\n| protects | every ", Escaped(draft.statement.privacy_unit),
                   " |\n| neighboring data sets | ", Escaped(AdjacencyText(draft.statement)),
                   " |\n| accounting | ", Escaped(AccountingText(draft.statement)),
                   " |\n| mechanisms | ", Escaped(MechanismsText(draft.statement)),
                   " |\n| contribution bounding | ", AnswerOrBlank(draft, "contributionBounding"),
                   " |\n| source | ", Escaped(SourceText(draft)), " |\n\nNot covered:\n\n");
  AddNotCovered(draft.statement, &page);
  return FilledForm{.text = std::move(page), .blanks = std::move(draft.blanks)};
}

}  // namespace epsledger::cli
