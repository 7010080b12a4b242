#include "client/cli/forms/form_filling.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace epsledger::cli {
namespace {

// YAML 1.1 reads "1e-05" as a text, and "1.0e-05" as a number.
std::string WithPoint(std::string number) {
  const size_t exponent = number.find('e');
  if (exponent != number.npos && number.find('.') == number.npos) number.insert(exponent, ".0");
  return number;
}

}  // namespace

std::string FormDraft::Answer(std::string_view key) {
  std::string answer = answers.Text(key);
  if (answer.empty()) blanks.emplace_back(key);
  return answer;
}

std::string EpsilonText(const StatementFields& statement) { return WithPoint(statement.shown); }

std::string DeltaText(const StatementFields& statement) {
  return WithPoint(nlohmann::json(statement.delta).dump());
}

std::string CautionText(const StatementFields& statement) {
  std::string text;
  for (const StatementFields::Cap& cap : statement.caps) {
    if (!cap.is_void) continue;
    absl::StrAppend(&text, "VOID: the guarantee of ", cap.name,
                    cap.superseded_by.empty() ? "" : ", which was superseded by ",
                    cap.superseded_by, ". ");
  }
  for (const std::string& warning : statement.warnings) {
    absl::StrAppend(&text, "WARNING: ", warning, " ");
  }
  return text;
}

std::string AdjacencyText(const StatementFields& statement) {
  const std::string& relation = statement.neighboring_relation;
  const std::string& unit = statement.privacy_unit;
  if (relation == "add-or-remove-one") {
    return absl::StrCat(
        "Two data sets are neighbors if one is the other without all records of one ", unit,
        " (add-or-remove-one).");
  }
  if (relation == "replace-one") {
    return absl::StrCat("Two data sets are neighbors if the records of one ", unit,
                        " are replaced by those of another (replace-one).");
  }
  return absl::StrCat("Two data sets are neighbors if the records of one ", unit,
                      " are replaced by a record that means nothing (replace-special).");
}

std::string AccountingText(const StatementFields& statement) {
  std::string text =
      statement.epsilon.has_value()
          ? absl::StrCat("Sequential composition by ", statement.accountant, ": ",
                         statement.theorem, ". The value is an upper bound, rounded up. ")
          : absl::StrCat("No bound is known (", statement.accountant, "). ");
  absl::StrAppend(&text, statement.covers, " Caps:");
  for (const StatementFields::Cap& cap : statement.caps) {
    absl::StrAppend(&text, " ", cap.name, ", ", cap.cap, cap.is_void ? ", void;" : ";");
  }
  if (statement.caps.empty()) absl::StrAppend(&text, " none;");
  text.back() = '.';
  for (const std::string& warning : statement.warnings) {
    absl::StrAppend(&text, " WARNING: ", warning);
  }
  return text;
}

std::string MechanismsText(const StatementFields& statement) {
  std::string text;
  for (const std::string& line : statement.history) absl::StrAppend(&text, line, "; ");
  absl::StrAppend(&text, "accepted charges: ", statement.accepted_charge_count,
                  ", refused ones: ", statement.refused_charge_count, ".");
  if (!statement.library.empty()) {
    absl::StrAppend(&text, " Library, as its user declares: ", statement.library, " ",
                    statement.library_version, ".");
  }
  return absl::StrCat(text, " ", statement.sampling_caveat);
}

std::string SourceText(const FormDraft& draft) {
  const StatementFields& statement = draft.statement;
  return absl::StrCat(
      "Entry ", statement.sequence, " of the ledger of ", statement.root_budget, ", hash ",
      statement.hash, ", stated ", statement.time, " by epsledger ", statement.server_version,
      " and signed. The signature was verified with the public key ", draft.public_key);
}

}  // namespace epsledger::cli
