#include "client/cli/statement_age.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

namespace epsledger::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using google::protobuf::util::MessageDifferencer;

const Value& Member(const Struct& object, const char* key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? Value::default_instance() : found->second;
}

absl::StatusOr<Struct> JsonOf(const v1::PrivacyStatement& statement) {
  Struct json;
  if (google::protobuf::util::JsonStringToMessage(statement.json(), &json).ok()) return json;
  return absl::DataLossError("the statement's JSON is none");
}

// A statement of release 0.1 says neither tenant nor store: then nothing contradicts.
bool Contradicts(const Struct& earlier, const Struct& later, const char* key) {
  const auto& before = earlier.fields();
  return before.count(key) > 0 &&
         Member(earlier, key).string_value() != Member(later, key).string_value();
}

}  // namespace

absl::StatusOr<StatementSubject> SubjectOf(const v1::PrivacyStatement& statement) {
  const absl::StatusOr<Struct> json = JsonOf(statement);
  if (!json.ok()) return json.status();
  StatementSubject subject{
      .name = Member(Member(*json, "resource").struct_value(), "name").string_value(),
      .delta = Member(*json, "delta").number_value()};
  if (subject.name.empty()) return absl::DataLossError("the statement names no budget or session");
  return subject;
}

absl::StatusOr<std::vector<std::string>> ChangesBetween(const v1::PrivacyStatement& earlier,
                                                        const v1::PrivacyStatement& later) {
  const absl::StatusOr<Struct> before = JsonOf(earlier);
  if (!before.ok()) return before.status();
  const absl::StatusOr<Struct> after = JsonOf(later);
  if (!after.ok()) return after.status();
  const Struct& old_ledger = Member(*before, "ledger").struct_value();
  const Struct& new_ledger = Member(*after, "ledger").struct_value();
  for (const char* key : {"tenant", "rootBudget", "store"}) {
    if (Contradicts(old_ledger, new_ledger, key)) {
      return absl::DataLossError(
          "the statement is of another ledger than the server's of that name");
    }
  }
  if (Member(old_ledger, "sequence").number_value() >
      Member(new_ledger, "sequence").number_value()) {
    return absl::DataLossError(
        "the statement is of more entries than the server's ledger has: it has lost some");
  }
  std::vector<std::string> changes;
  for (const char* key : {"resource", "caps", "claim", "audits", "sampling"}) {
    if (!MessageDifferencer::Equals(Member(*before, key), Member(*after, key))) {
      changes.push_back(key);
    }
  }
  return changes;
}

}  // namespace epsledger::cli
