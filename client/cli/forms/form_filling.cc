#include "client/cli/forms/form_filling.h"

#include "absl/strings/str_cat.h"

namespace epsledger::cli {
namespace {

using nlohmann::json;

// Returns the text or number at a path of keys; "" if there is none.
std::string At(const json& value, std::initializer_list<const char*> path) {
  const json* found = &value;
  for (const char* key : path) {
    const auto next = found->find(key);
    if (next == found->end()) return "";
    found = &*next;
  }
  return found->is_string() ? found->get<std::string>() : found->dump();
}

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

std::string EpsilonText(const json& statement) {
  const std::string shown = At(statement, {"epsilon", "shown"});
  return shown == "inf" || shown == "Infinity" ? "" : WithPoint(shown);
}

std::string DeltaText(const json& statement) { return WithPoint(At(statement, {"delta"})); }

std::string AdjacencyText(const json& statement) {
  const std::string relation = At(statement, {"resource", "neighboringRelation"});
  const std::string unit = At(statement, {"resource", "privacyUnit"});
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

std::string AccountingText(const json& statement) {
  std::string text = absl::StrCat("Sequential composition by ", At(statement, {"epsilon", "by"}),
                                  ": ", At(statement, {"epsilon", "theorem"}),
                                  ". The value is an upper bound, rounded up. ",
                                  At(statement, {"covers"}), " Caps:");
  for (const json& cap : statement.at("caps")) {
    absl::StrAppend(&text, " ", At(cap, {"name"}), ", ", At(cap, {"cap"}),
                    cap.value("void", false) ? ", void;" : ";");
  }
  if (statement.at("caps").empty()) absl::StrAppend(&text, " none;");
  text.back() = '.';
  for (const json& warning : statement.at("warnings")) {
    absl::StrAppend(&text, " WARNING: ", warning.get<std::string>());
  }
  return text;
}

std::string MechanismsText(const json& statement) {
  std::string text;
  const auto history = statement.at("resource").find("history");
  if (history != statement.at("resource").end()) {
    for (const json& line : *history) absl::StrAppend(&text, line.get<std::string>(), "; ");
  }
  absl::StrAppend(&text, "accepted charges: ", At(statement, {"resource", "acceptedChargeCount"}),
                  ", refused ones: ", At(statement, {"resource", "refusedChargeCount"}), ".");
  const json& attempt = statement.at("sampling").at("newestAttempt");
  const std::string library = At(attempt, {"library"});
  if (!library.empty()) {
    absl::StrAppend(&text, " Library, as its user declares: ", library, " ",
                    At(attempt, {"libraryVersion"}), ".");
  }
  return absl::StrCat(text, " ", At(statement, {"sampling", "caveat"}));
}

std::string LedgerText(const json& statement) {
  return absl::StrCat("Entry ", At(statement, {"ledger", "sequence"}), " of the ledger of ",
                      At(statement, {"ledger", "rootBudget"}), ", hash ",
                      At(statement, {"ledger", "hash"}), ", stated ", At(statement, {"time"}),
                      " by epsledger ", At(statement, {"serverVersion"}), " and signed");
}

std::vector<std::string> NotCoveredTexts(const json& statement) {
  const auto found = statement.find("notCovered");
  return found == statement.end() ? std::vector<std::string>()
                                  : found->get<std::vector<std::string>>();
}

}  // namespace epsledger::cli
