// The YAML of the OpenDP deployments registry (opendp/deployments-registry-data,
// schemas/deployments-schema.yaml of July 2026). Fields that are not answered are left out, and
// what the schema requires has no default: nothing is made up.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/forms/form_filling.h"

namespace epsledger::cli {
namespace {

using nlohmann::ordered_json;

// A JSON text in double quotes is a YAML scalar too. Numbers are written as they are given.
struct YamlNumber {
  std::string digits;
};

class YamlWriter {
 public:
  // A section that gets no line is left out: YAML would read its name alone as null.
  void Begin(const char* key) {
    const size_t start = yaml_.size();
    Line(absl::StrCat(key, ":"));
    sections_.push_back({.start = start, .body = yaml_.size()});
    ++depth_;
  }
  void End() {
    --depth_;
    const Section section = sections_.back();
    sections_.pop_back();
    if (yaml_.size() == section.body) yaml_.resize(section.start);
  }
  // Writes nothing for an empty text.
  void Text(const char* key, const std::string& text) {
    if (!text.empty()) Line(absl::StrCat(key, ": ", Quoted(text)));
  }
  void Number(const char* key, const YamlNumber& number) {
    Line(absl::StrCat(key, ": ", number.digits));
  }
  void Texts(const char* key, const std::vector<std::string>& texts) {
    Begin(key);
    for (const std::string& text : texts) Line(absl::StrCat("- ", Quoted(text)));
    End();
  }
  std::string Take() { return std::move(yaml_); }

 private:
  static std::string Quoted(const std::string& text) { return ordered_json(text).dump(); }
  void Line(const std::string& line) {
    absl::StrAppend(&yaml_, std::string(static_cast<size_t>(2 * depth_), ' '), line, "\n");
  }

  // Where in yaml_ the name of a section begins, and where it ends.
  struct Section {
    size_t start;
    size_t body;
  };

  int depth_ = 0;
  std::vector<Section> sections_;
  std::string yaml_;
};

// The registry's files are named by letters, digits and "_".
std::string Slug(const std::string& name) {
  std::string slug;
  for (const char c : absl::AsciiStrToLower(name)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain || (!slug.empty() && slug.back() != '_')) slug += is_plain ? c : '_';
  }
  while (!slug.empty() && slug.back() == '_') slug.pop_back();
  return slug.empty() ? "statement" : slug;
}

constexpr const char* kRequired[] = {"name",        "description", "intendedUse",
                                     "productType", "region",      "publicationDate"};
constexpr const char* kRequiredLists[] = {"curators", "authors"};

absl::Status CheckRequired(const FormAnswers& answers) {
  std::vector<std::string> missing;
  for (const char* key : kRequired) {
    if (answers.Text(key).empty()) missing.emplace_back(key);
  }
  for (const char* key : kRequiredLists) {
    if (answers.Texts(key).empty()) missing.emplace_back(key);
  }
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> wanted;
  for (const FormQuestion& question : FormQuestions()) {
    if (std::find(missing.begin(), missing.end(), question.key) == missing.end()) continue;
    wanted.push_back(absl::StrCat(
        question.key, " (", question.wants, question.is_list ? ", a list" : "",
        question.choices.empty() ? "" : absl::StrCat(": ", absl::StrJoin(question.choices, ", ")),
        ")"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the registry wants answers that a statement does not have: ", absl::StrJoin(wanted, "; "),
      "; put them into the file of --answers"));
}

// YYYY-MM-DD of a real day; the registry refuses everything else.
bool IsDate(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const size_t i : {0, 1, 2, 3, 5, 6, 8, 9}) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  const int year = std::stoi(text.substr(0, 4));
  const int month = std::stoi(text.substr(5, 2));
  const int day = std::stoi(text.substr(8, 2));
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

void WriteBasic(FormDraft& draft, YamlWriter& yaml) {
  yaml.Begin("basic");
  yaml.Text("name", draft.Answer("name"));
  yaml.Texts("data_curators", draft.answers.Texts("curators"));
  yaml.Text("intended_use", draft.Answer("intendedUse"));
  yaml.Text("data_product_type", draft.Answer("productType"));
  yaml.Text("data_product_region", draft.Answer("region"));
  yaml.Text("description", draft.Answer("description"));
  yaml.Text("publication_date", draft.Answer("publicationDate"));
  yaml.Text("data_product_sector", draft.Answer("sector"));
  yaml.End();
}

void WritePrivacy(FormDraft& draft, YamlWriter& yaml) {
  yaml.Begin("dp_variant");
  yaml.Text("variant_name", "Approximate DP");
  yaml.Text("data_domain", draft.Answer("dataDomain"));
  yaml.Text("unprotected_quantities", draft.Answer("unprotectedQuantities"));
  yaml.End();
  yaml.Begin("privacy_loss");
  yaml.Text("privacy_unit", draft.statement.privacy_unit);
  const std::string bounding = draft.Answer("contributionBounding");
  yaml.Text("privacy_unit_details",
            absl::StrCat(AdjacencyText(draft.statement), bounding.empty() ? "" : " ", bounding));
  yaml.Begin("privacy_parameters");
  const std::string epsilon = EpsilonText(draft.statement);
  yaml.Number("epsilon", {epsilon.empty() ? ".inf" : epsilon});  // YAML's word for infinity
  yaml.Number("delta", {DeltaText(draft.statement)});
  yaml.End();
  yaml.Text("privacy_parameters_details",
            absl::StrCat(CautionText(draft.statement), SourceText(draft)));
  yaml.End();
}

void WriteDeployment(FormDraft& draft, YamlWriter& yaml) {
  yaml.Begin("deployment_model");
  yaml.Text("model_name", draft.Answer("deploymentModel"));
  yaml.Text("actors", draft.Answer("actors"));
  yaml.Text("release_type", draft.Answer("releaseType"));
  yaml.Text("data_source_type", draft.Answer("dataSource"));
  yaml.Text("access_type", draft.Answer("access"));
  yaml.Text("model_name_details", draft.Answer("dataCollection"));
  yaml.End();
  yaml.Begin("accounting");
  yaml.Text("post_processing", draft.Answer("postProcessing"));
  yaml.Text("composition", AccountingText(draft.statement));
  yaml.End();
}

void WriteImplementation(FormDraft& draft, YamlWriter& yaml) {
  yaml.Begin("implementation");
  yaml.Text("preprocessing_and_hyperparameter_tuning", draft.Answer("preprocessing"));
  std::string mechanisms = MechanismsText(draft.statement);
  for (const char* key : {"sideChannels", "security"}) {
    const std::string answer = draft.Answer(key);
    if (!answer.empty()) absl::StrAppend(&mechanisms, "\n\n", answer);
  }
  yaml.Text("mechanisms", absl::StrCat(mechanisms, "\n\nNot covered: ",
                                       absl::StrJoin(draft.statement.not_covered, " ")));
  yaml.Text("justification", draft.Answer("parameterRationale"));
  yaml.End();
  yaml.Begin("administrative");
  yaml.Text("sources", draft.Answer("sources"));
  yaml.Text("notes", draft.Answer("notes"));
  yaml.Texts("registry_authors", draft.answers.Texts("authors"));
  yaml.End();
}

}  // namespace

absl::StatusOr<FilledForm> FillOpenDpRegistry(FormDraft draft) {
  if (absl::Status status = CheckRequired(draft.answers); !status.ok()) return status;
  if (!IsDate(draft.answers.Text("publicationDate"))) {
    return absl::InvalidArgumentError(absl::StrCat("answers: publicationDate: got \"",
                                                   draft.answers.Text("publicationDate"),
                                                   "\", want a day as YYYY-MM-DD"));
  }
  if (!draft.statement.epsilon.has_value()) {
    return absl::FailedPreconditionError(
        "the statement has no epsilon, and the registry's form takes a number only");
  }
  YamlWriter yaml;
  yaml.Text("url_slug", Slug(draft.answers.Text("name")));
  yaml.Text("status", "Draft");
  yaml.Number("tier", {"3"});
  yaml.Begin("deployment");
  WriteBasic(draft, yaml);
  WritePrivacy(draft, yaml);
  WriteDeployment(draft, yaml);
  WriteImplementation(draft, yaml);
  yaml.End();
  return FilledForm{.text = yaml.Take(), .blanks = std::move(draft.blanks)};
}

}  // namespace epsledger::cli
