#include "server/transport/grpc/calls/granted_subject.h"

#include <vector>

#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"

namespace epsledger::transport {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Returns the text of a field; empty if the field does not exist or is not set.
std::string TextOf(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() ||
      field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return "";
  }
  return message.GetReflection()->GetString(message, field);
}

// Returns the message in "budget" of requests that create or change a budget; nullptr for others.
const Message* BudgetIn(const Message& request) {
  const FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("budget");
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  return &request.GetReflection()->GetMessage(request, field);
}

// No valid request sets two of these: PreviewCharge refuses that.
std::string NameIn(const Message& request) {
  if (const Message* budget = BudgetIn(request)) return TextOf(*budget, "name");
  for (const char* field : {"name", "attempt", "session", "parent", "budget"}) {
    if (std::string name = TextOf(request, field); !name.empty()) return name;
  }
  return "";
}

}  // namespace

GrantedSubject SubjectNamed(std::string_view name) {
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(name.data(), name.size()), '/');
  GrantedSubject subject;
  if (parts.size() < 2 || parts[0] != "budgets") return subject;
  subject.budget_id = parts[1];
  if (parts.size() >= 4 && parts[2] == "sessions") subject.session_id = parts[3];
  return subject;
}

std::optional<GrantedSubject> SubjectOf(const Message& request, access::Subject subject) {
  switch (subject) {
    case access::Subject::kNothing:
    case access::Subject::kCaller:
    case access::Subject::kVisibleBudgets:
    case access::Subject::kTenant:
      return std::nullopt;
    case access::Subject::kParent: {
      const Message* budget = BudgetIn(request);
      return budget == nullptr ? GrantedSubject() : SubjectNamed(TextOf(*budget, "parent"));
    }
    case access::Subject::kNamed:
    case access::Subject::kLedger:
      break;
  }
  GrantedSubject named = SubjectNamed(NameIn(request));
  named.whole_ledger = subject == access::Subject::kLedger;
  // CreateSession names the session in a field besides its parent.
  if (named.session_id.empty()) named.session_id = TextOf(request, "session_id");
  return named;
}

absl::Status CheckScope(const core::LedgerReader& reader, const access::Caller& caller,
                        const GrantedSubject& subject) {
  if (caller.scope == nullptr) return absl::OkStatus();
  const core::Ledger* ledger = reader.LedgerOf(subject.budget_id);
  if (ledger == nullptr) return core::OutsideScope(*caller.scope);
  const std::string& budget_id = subject.whole_ledger ? ledger->root_id() : subject.budget_id;
  if (core::Covers(*caller.scope, *ledger, budget_id, subject.session_id)) return absl::OkStatus();
  return core::OutsideScope(*caller.scope);
}

}  // namespace epsledger::transport
