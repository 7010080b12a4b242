#ifndef EPSLEDGER_CLIENT_CLI_FORMS_STATEMENT_FIELDS_H_
#define EPSLEDGER_CLIENT_CLI_FORMS_STATEMENT_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace epsledger::cli {

// What the forms take from a statement. Texts that a statement always has are not empty.
struct StatementFields {
  struct Cap {
    std::string name;  // of its budget or session
    std::string cap;
    bool is_void = false;
    std::string superseded_by;  // a budget, or empty
  };

  std::string name;  // "budgets/adult" or "budgets/adult/sessions/run-1"
  std::string privacy_unit;
  std::string neighboring_relation;  // "add-or-remove-one", "replace-one" or "replace-special"
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
  std::vector<std::string> history;

  double delta = 0;  // in [0, 1]
  std::string accountant;
  std::string theorem;  // may be empty
  // An upper bound on the true epsilon, in [0, +inf]; none: no bound is known.
  std::optional<double> epsilon;
  // A finite decimal number >= *epsilon, for people; empty where there is none.
  std::string shown;

  std::string covers;
  std::vector<std::string> warnings;
  std::vector<Cap> caps;
  std::string library;  // may be empty, as its version
  std::string library_version;
  std::string sampling_caveat;
  std::vector<std::string> not_covered;

  // What people said when the statement was made: a topic ("DATA_DOMAIN") and a text.
  std::vector<std::pair<std::string, std::string>> annotations;

  nlohmann::json ledger;  // its texts and its sequence
  std::string root_budget;
  int64_t sequence = 0;
  std::string hash;
  std::string time;
  std::string server_version;
};

// Returns the fields of a statement's JSON. Never throws. FAILED_PRECONDITION names the first field
// that is missing, of another kind or outside its domain, with what it is, what it should be, and
// the version of the server that made the statement; so does a `shown` that is below the epsilon.
absl::StatusOr<StatementFields> FieldsOf(std::string_view statement_json);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FORMS_STATEMENT_FIELDS_H_
