#ifndef EPSLEDGER_CLIENT_CLI_FORMS_FORM_FILLING_H_
#define EPSLEDGER_CLIENT_CLI_FORMS_FORM_FILLING_H_

// Shared by the forms.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/forms/forms.h"
#include "client/cli/forms/statement_fields.h"

namespace epsledger::cli {

// A question that a form asks and a statement does not answer.
struct FormQuestion {
  const char* key;
  const char* wants;  // for people
  bool is_list = false;
  std::vector<std::string> choices = {};  // empty: any text
};

const std::vector<FormQuestion>& FormQuestions();

// A form that is being filled.
struct FormDraft {
  const StatementFields& statement;
  std::string public_key;  // hexadecimal digits of the key that its signature was checked with
  const FormAnswers& answers;
  std::vector<std::string> blanks = {};

  // Returns an answer, and notes a blank if there is none.
  std::string Answer(std::string_view key);
};

// What the statement says, in words for a form.
std::string EpsilonText(const StatementFields& statement);  // "2.41", rounded up; "": not finite
std::string DeltaText(const StatementFields& statement);    // "1.0e-05"
// What takes from the guarantee, and so stands beside it: "VOID: ... WARNING: ... " with a space at
// the end; "" if nothing does.
std::string CautionText(const StatementFields& statement);
std::string AdjacencyText(const StatementFields& statement);   // what neighbors are
std::string AccountingText(const StatementFields& statement);  // by which accountant and theorem
std::string MechanismsText(const StatementFields& statement);  // what was charged
std::string SourceText(const FormDraft& draft);  // which entry of which ledger, signed by which key

absl::StatusOr<FilledForm> FillOpenDpRegistry(FormDraft draft);
absl::StatusOr<FilledForm> FillNist800226(FormDraft draft);
absl::StatusOr<FilledForm> FillModelCard(FormDraft draft);
absl::StatusOr<FilledForm> FillOpenLineage(FormDraft draft,
                                           const v1::PrivacyStatement& signed_statement);
absl::StatusOr<FilledForm> FillInToto(FormDraft draft, const v1::PrivacyStatement& signed_statement,
                                      const std::vector<FormSubject>& subjects);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FORMS_FORM_FILLING_H_
