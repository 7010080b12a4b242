#ifndef EPSLEDGER_CLIENT_CLI_FORMS_FORMS_H_
#define EPSLEDGER_CLIENT_CLI_FORMS_FORMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/v1/audit.pb.h"
#include "nlohmann/json.hpp"

namespace epsledger::cli {

// The forms that others ask a privacy statement in.
enum class FormKind {
  kOpenDpRegistry,  // the YAML of registry.opendp.org
  kNist800226,      // a sheet by the headings of NIST SP 800-226
  kModelCard,       // a section for a Hugging Face model card
  kOpenLineage,     // a facet of an OpenLineage run
  kInToto,          // an in-toto statement whose predicate is the signed privacy statement
};

// All names of forms, as users write them.
std::vector<std::string> FormNames();
// INVALID_ARGUMENT with all names for another one.
absl::StatusOr<FormKind> FormNamed(std::string_view name);

// What a form asks and a statement does not say: the answers of whoever files it, and what people
// recorded in the ledger (AuditService.UpdateAnnotations). No form makes up an answer.
class FormAnswers {
 public:
  FormAnswers() = default;
  // Reads a JSON object. INVALID_ARGUMENT names a key that no form has, an answer of another kind,
  // or one that its form does not take.
  static absl::StatusOr<FormAnswers> Parse(std::string_view json);

  // "" or nothing: not answered.
  std::string Text(std::string_view key) const;
  std::vector<std::string> Texts(std::string_view key) const;

  // Answers a question that was not answered. Does nothing if no form asks it, or if its form would
  // not take this text.
  void AddText(const std::string& key, const std::string& text);

 private:
  nlohmann::json answers_ = nlohmann::json::object();
};

// A file that a statement is about: the model.
struct FormSubject {
  std::string name;
  std::string sha256;  // hexadecimal digits
};

struct FilledForm {
  std::string text;
  // The keys of answers that the form has a place for and that were not given.
  std::vector<std::string> blanks;
};

// Fills a form from a statement whose signature was checked with its public key, which the form
// names. The epsilon of the form is at least that of the statement. Where a guarantee is void or
// warned of, the form says so beside it. Never throws. INVALID_ARGUMENT names the answers without
// which the form is not valid, with what each wants, or a subject that it cannot name.
// FAILED_PRECONDITION if the statement has not the fields of one (statement_fields.h), or if the
// form cannot say what the statement says: an epsilon that is unknown.
absl::StatusOr<FilledForm> FillForm(FormKind kind, const v1::PrivacyStatement& statement,
                                    const FormAnswers& answers,
                                    const std::vector<FormSubject>& subjects);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FORMS_FORMS_H_
