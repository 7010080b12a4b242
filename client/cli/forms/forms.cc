#include "client/cli/forms/forms.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "accounting/event/status_macros.h"
#include "client/cli/forms/form_filling.h"
#include "client/cli/forms/parsed_object.h"
#include "client/cli/forms/statement_fields.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

using nlohmann::json;

const std::vector<std::pair<const char*, FormKind>>& Forms() {
  static const auto* const forms = new std::vector<std::pair<const char*, FormKind>>{
      {"opendp-registry", FormKind::kOpenDpRegistry},
      {"nist-800-226", FormKind::kNist800226},
      {"model-card", FormKind::kModelCard},
      {"openlineage", FormKind::kOpenLineage},
      {"in-toto", FormKind::kInToto},
  };
  return *forms;
}

absl::Status WrongAnswer(std::string_view key, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("answers: ", std::string(key), ": ", what));
}

absl::Status CheckText(const FormQuestion& question, const json& answer) {
  if (!answer.is_string() || answer.get_ref<const std::string&>().empty()) {
    return WrongAnswer(question.key, absl::StrCat("want a text: ", question.wants));
  }
  const std::string& text = answer.get_ref<const std::string&>();
  std::string without_newlines = text;
  std::replace(without_newlines.begin(), without_newlines.end(), '\n', ' ');
  if (bridge::Printable(without_newlines) != without_newlines) {
    return WrongAnswer(question.key, "it has control characters");
  }
  const std::vector<std::string>& choices = question.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    return WrongAnswer(question.key,
                       absl::StrCat("got \"", bridge::Printable(text),
                                    "\", want one of: ", absl::StrJoin(choices, ", ")));
  }
  return absl::OkStatus();
}

absl::Status CheckAnswer(const FormQuestion& question, const json& answer) {
  if (!question.is_list) return CheckText(question, answer);
  if (!answer.is_array() || answer.empty()) {
    return WrongAnswer(question.key, absl::StrCat("want a list of texts: ", question.wants));
  }
  for (const json& one : answer) RETURN_IF_ERROR(CheckText(question, one));
  return absl::OkStatus();
}

const FormQuestion* QuestionOf(std::string_view key) {
  const std::vector<FormQuestion>& questions = FormQuestions();
  const auto question = std::find_if(questions.begin(), questions.end(),
                                     [key](const FormQuestion& known) { return key == known.key; });
  return question == questions.end() ? nullptr : &*question;
}

// "DATA_DOMAIN" -> "dataDomain".
std::string KeyOfTopic(const std::string& topic) {
  std::string key;
  for (size_t i = 0; i < topic.size(); ++i) {
    if (topic[i] == '_') continue;
    key += i > 0 && topic[i - 1] != '_' ? absl::ascii_tolower(topic[i]) : topic[i];
  }
  if (!key.empty()) key[0] = absl::ascii_tolower(key[0]);
  return key;
}

}  // namespace

std::vector<std::string> FormNames() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : Forms()) names.emplace_back(name);
  return names;
}

absl::StatusOr<FormKind> FormNamed(std::string_view name) {
  for (const auto& [known, kind] : Forms()) {
    if (name == known) return kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--format: got \"", bridge::Printable(name),
                   "\", want one of: ", absl::StrJoin(FormNames(), ", ")));
}

const std::vector<FormQuestion>& FormQuestions() {
  static const auto* const questions = new std::vector<FormQuestion>{
      {"name", "the name of the data product"},
      {"curators", "who publishes the data product", true},
      {"description", "what the data product is"},
      {"intendedUse", "what it is for"},
      {"productType",
       "the kind of data product",
       false,
       {"Summary statistics", "Machine learning model", "Dataset", "Synthetic data",
        "Interactive API", "SQL queries"}},
      {"region", "which region the data describe, or whose laws apply"},
      {"publicationDate", "when it was published, YYYY-MM-DD"},
      {"sector",
       "the industry",
       false,
       {"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"}},
      {"authors", "who fills in the form", true},
      {"dataDomain", "which data sets are eligible for protection"},
      {"unprotectedQuantities", "what is released without noise"},
      {"contributionBounding", "how the contribution of one privacy unit is bounded"},
      {"deploymentModel",
       "who is trusted with the raw data",
       false,
       {"Local", "Central", "Shuffle", "Federated"}},
      {"actors", "who sees what, and why they are trusted"},
      {"releaseType", "how often it is published", false, {"One release", "Many releases"}},
      {"dataSource", "whether new data come in", false, {"Static", "Dynamic"}},
      {"access", "whether people ask queries", false, {"Interactive", "Non-interactive"}},
      {"postProcessing", "what is done to the output afterwards"},
      {"preprocessing", "what was done before: cleaning, exploration, tuning"},
      {"parameterRationale", "why epsilon and delta were chosen so"},
      {"dataCollection", "how the raw data are collected, and who can see them on the way"},
      {"security", "how the raw data and the machines are protected"},
      {"sideChannels", "what is done about timing, memory, logs and floating point"},
      {"sources", "papers and pages about it"},
      {"notes", "anything else"},
  };
  return *questions;
}

absl::StatusOr<FormAnswers> FormAnswers::Parse(std::string_view text) {
  absl::StatusOr<json> object = ParsedObject(text);
  if (!object.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("answers: ", std::string(object.status().message())));
  }
  FormAnswers answers;
  answers.answers_ = *std::move(object);
  for (const auto& [key, answer] : answers.answers_.items()) {
    const FormQuestion* question = QuestionOf(key);
    if (question == nullptr) {
      std::vector<std::string> known;
      for (const FormQuestion& one : FormQuestions()) known.emplace_back(one.key);
      return WrongAnswer(bridge::Printable(key), absl::StrCat("no form asks that; want one of: ",
                                                              absl::StrJoin(known, ", ")));
    }
    RETURN_IF_ERROR(CheckAnswer(*question, answer));
  }
  return answers;
}

std::string FormAnswers::Text(std::string_view key) const {
  const auto found = answers_.find(std::string(key));
  return found == answers_.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::vector<std::string> FormAnswers::Texts(std::string_view key) const {
  const auto found = answers_.find(std::string(key));
  if (found == answers_.end() || !found->is_array()) return {};
  return found->get<std::vector<std::string>>();
}

void FormAnswers::AddText(const std::string& key, const std::string& text) {
  const FormQuestion* question = QuestionOf(key);
  if (question == nullptr || question->is_list || answers_.contains(key)) return;
  if (CheckText(*question, text).ok()) answers_[key] = text;
}

absl::StatusOr<FilledForm> FillForm(FormKind kind, const v1::PrivacyStatement& statement,
                                    const FormAnswers& answers,
                                    const std::vector<FormSubject>& subjects) {
  ASSIGN_OR_RETURN(const StatementFields said, FieldsOf(statement.json()));
  FormAnswers all = answers;
  for (const auto& [topic, text] : said.annotations) all.AddText(KeyOfTopic(topic), text);
  FormDraft draft{.statement = said,
                  .public_key = absl::BytesToHexString(statement.public_key()),
                  .answers = all};
  switch (kind) {
    case FormKind::kOpenDpRegistry:
      return FillOpenDpRegistry(std::move(draft));
    case FormKind::kNist800226:
      return FillNist800226(std::move(draft));
    case FormKind::kModelCard:
      return FillModelCard(std::move(draft));
    case FormKind::kOpenLineage:
      return FillOpenLineage(std::move(draft), statement);
    case FormKind::kInToto:
      return FillInToto(std::move(draft), statement, subjects);
  }
  return absl::InternalError("no such form");
}

}  // namespace epsledger::cli
