#include "client/cli/forms/statement_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/forms/parsed_object.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

using nlohmann::json;

constexpr double kInfiniteEpsilon = std::numeric_limits<double>::infinity();
constexpr size_t kMaxGotBytes = 80;

// A value of the statement, or the place where one is missing. The first Fail of all readers of one
// statement stays in `status`; after it they return empty values.
class FieldReader {
 public:
  FieldReader(const json* value, std::string path, absl::Status* status)
      : value_(value), path_(std::move(path)), status_(status) {}

  bool IsThere() const { return value_ != nullptr; }

  FieldReader Member(const char* key) const {
    const std::string path = path_.empty() ? key : absl::StrCat(path_, ".", key);
    if (!IsThere() || !value_->is_object()) {
      Fail("an object");
      return {nullptr, path, status_};
    }
    const auto found = value_->find(key);
    return {found == value_->end() ? nullptr : &*found, path, status_};
  }

  std::vector<FieldReader> Items() const {
    std::vector<FieldReader> items;
    if (!IsThere() || !value_->is_array()) {
      Fail("a list");
      return items;
    }
    for (size_t i = 0; i < value_->size(); ++i) {
      items.push_back({&(*value_)[i], absl::StrCat(path_, "[", i, "]"), status_});
    }
    return items;
  }

  std::string TextOrEmpty() const {
    if (IsThere() && value_->is_string()) return value_->get<std::string>();
    Fail("a text");
    return "";
  }

  std::string Text() const {
    std::string text = TextOrEmpty();
    if (text.empty()) Fail("a text that is not empty");
    return text;
  }

  std::string OneOf(const std::vector<std::string>& choices) const {
    std::string text = IsThere() && value_->is_string() ? value_->get<std::string>() : "";
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      Fail(absl::StrCat("one of ", absl::StrJoin(choices, ", ")));
    }
    return text;
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const FieldReader& item : Items()) texts.push_back(item.Text());
    return texts;
  }

  bool Boolean() const {
    if (IsThere() && value_->is_boolean()) return value_->get<bool>();
    Fail("true or false");
    return true;
  }

  int64_t Count() const {
    const bool fits = IsThere() && value_->is_number_unsigned() &&
                      value_->get<uint64_t>() <= std::numeric_limits<int64_t>::max();
    if (fits) return value_->get<int64_t>();
    Fail("an integer of at least 0");
    return 0;
  }

  // A finite number in [0, upper].
  double NumberUpTo(double upper, const char* want) const {
    const double number = IsThere() && value_->is_number() ? value_->get<double>() : -1;
    if (std::isfinite(number) && number >= 0 && number <= upper) return number;
    Fail(want);
    return kInfiniteEpsilon;
  }

  // A number in [0, +inf]; infinity is a text, as in proto3 JSON.
  double UpperBound() const {
    if (IsThere() && value_->is_string() && value_->get_ref<const std::string&>() == "Infinity") {
      return kInfiniteEpsilon;
    }
    return NumberUpTo(std::numeric_limits<double>::max(),
                      "a number of at least 0, or \"Infinity\"");
  }

  void Fail(std::string_view want) const {
    status_->Update(absl::FailedPreconditionError(
        absl::StrCat("the statement's ", path_, ": got ", Got(), ", want ", std::string(want))));
  }

 private:
  std::string Got() const {
    if (!IsThere()) return "nothing";
    if (value_->is_object()) return "an object";
    if (value_->is_array()) return "a list";
    // Everything but ASCII is escaped: any part of it can be shown.
    const std::string text = value_->dump(-1, ' ', /*ensure_ascii=*/true);
    return text.size() <= kMaxGotBytes ? text : absl::StrCat(text.substr(0, kMaxGotBytes), "...");
  }

  const json* value_;
  std::string path_;
  absl::Status* status_;
};

// Returns the value of a decimal number as JSON writes it, without a sign; NaN for any other text.
double ValueOfDigits(const std::string& text) {
  const bool is_plain = text.find_first_not_of("0123456789.e+-") == text.npos;
  if (!is_plain || text.starts_with('-')) return std::numeric_limits<double>::quiet_NaN();
  const json number = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return number.is_number() ? number.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void ReadResource(const FieldReader& resource, StatementFields& fields) {
  fields.name = resource.Member("name").Text();
  fields.privacy_unit = resource.Member("privacyUnit").Text();
  fields.neighboring_relation = resource.Member("neighboringRelation")
                                    .OneOf({"add-or-remove-one", "replace-one", "replace-special"});
  fields.accepted_charge_count = resource.Member("acceptedChargeCount").Count();
  fields.refused_charge_count = resource.Member("refusedChargeCount").Count();
  fields.history = resource.Member("history").Texts();
}

void ReadEpsilon(const FieldReader& epsilon, StatementFields& fields) {
  fields.accountant = epsilon.Member("by").Text();
  if (epsilon.Member("reasonUnavailable").IsThere()) {
    epsilon.Member("reasonUnavailable").TextOrEmpty();
    if (epsilon.Member("epsilon").IsThere()) {
      epsilon.Member("epsilon").Fail("nothing beside epsilon.reasonUnavailable");
    }
    return;
  }
  fields.theorem = epsilon.Member("theorem").TextOrEmpty();
  // An approximation may be below the truth: no form states it.
  if (epsilon.Member("kind").OneOf({"UPPER_BOUND", "APPROXIMATION"}) != "UPPER_BOUND") return;
  const double upper = epsilon.Member("epsilon").UpperBound();
  fields.epsilon = upper;
  const FieldReader shown = epsilon.Member("shown");
  fields.shown = shown.Text();
  if (fields.shown == "infinity" || fields.shown == "Infinity" || fields.shown == "inf") {
    fields.shown.clear();
  } else if (!(ValueOfDigits(fields.shown) >= upper)) {
    shown.Fail(absl::StrCat("a number that is at least epsilon.epsilon, ",
                            std::isinf(upper) ? "infinity" : json(upper).dump()));
  }
}

void ReadCaps(const FieldReader& caps, StatementFields& fields) {
  for (const FieldReader& cap : caps.Items()) {
    fields.caps.push_back({.name = cap.Member("name").Text(),
                           .cap = cap.Member("cap").Text(),
                           .is_void = cap.Member("void").Boolean(),
                           .superseded_by = cap.Member("supersededBy").TextOrEmpty()});
    StatementFields::Cap& read = fields.caps.back();
    read.is_void = read.is_void || !read.superseded_by.empty();
  }
}

void ReadSampling(const FieldReader& sampling, StatementFields& fields) {
  const FieldReader attempt = sampling.Member("newestAttempt");
  fields.library = attempt.Member("library").TextOrEmpty();
  fields.library_version = attempt.Member("libraryVersion").TextOrEmpty();
  fields.sampling_caveat = sampling.Member("caveat").Text();
}

// The first statements did not have them.
void ReadAnnotations(const FieldReader& annotations, StatementFields& fields) {
  if (!annotations.IsThere()) return;
  for (const FieldReader& annotation : annotations.Items()) {
    fields.annotations.emplace_back(annotation.Member("topic").Text(),
                                    annotation.Member("text").Text());
  }
}

void ReadLedger(const FieldReader& ledger, StatementFields& fields) {
  fields.root_budget = ledger.Member("rootBudget").Text();
  fields.sequence = ledger.Member("sequence").Count();
  fields.hash = ledger.Member("hash").Text();
  fields.ledger = {{"rootBudget", fields.root_budget},
                   {"sequence", fields.sequence},
                   {"hash", fields.hash},
                   {"merkleRoot", ledger.Member("merkleRoot").Text()}};
  // The first statements did not have them.
  for (const char* key : {"tenant", "store", "incarnation"}) {
    const FieldReader member = ledger.Member(key);
    if (member.IsThere()) fields.ledger[key] = member.TextOrEmpty();
  }
}

}  // namespace

absl::StatusOr<StatementFields> FieldsOf(std::string_view statement_json) {
  const absl::StatusOr<json> object = ParsedObject(statement_json);
  if (!object.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the statement's JSON: ", std::string(object.status().message())));
  }
  absl::Status status;
  const FieldReader root(&*object, "", &status);
  StatementFields fields;
  // First of all, for the errors of the other fields.
  fields.server_version = root.Member("serverVersion").Text();
  ReadResource(root.Member("resource"), fields);
  fields.delta = root.Member("delta").NumberUpTo(1, "a number in [0, 1]");
  ReadEpsilon(root.Member("epsilon"), fields);
  fields.covers = root.Member("covers").Text();
  fields.warnings = root.Member("warnings").Texts();
  ReadCaps(root.Member("caps"), fields);
  ReadSampling(root.Member("sampling"), fields);
  fields.not_covered = root.Member("notCovered").Texts();
  ReadLedger(root.Member("ledger"), fields);
  ReadAnnotations(root.Member("annotations"), fields);
  fields.time = root.Member("time").Text();
  if (status.ok()) return fields;
  if (fields.server_version.empty()) return status;
  return absl::FailedPreconditionError(absl::StrCat(std::string(status.message()),
                                                    "; it was made by epsledger ",
                                                    bridge::Printable(fields.server_version)));
}

}  // namespace epsledger::cli
