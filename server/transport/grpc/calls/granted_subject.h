#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_GRANTED_SUBJECT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_GRANTED_SUBJECT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "server/access/caller.h"
#include "server/access/method_rules.h"
#include "server/core/durable_ledger.h"

namespace epsledger::transport {

// What a request reads, for the check of grants.
struct GrantedSubject {
  // From "budgets/{budget}" and "budgets/{budget}/sessions/{session}...". Empty: the name has
  // another form.
  std::string budget_id;
  std::string session_id;
  // The request reads the whole ledger of the budget.
  bool whole_ledger = false;
};

// Returns the budget and session of a name, which need not be valid otherwise.
GrantedSubject SubjectNamed(std::string_view name);

// Returns what the request of a method with that subject reads; nullopt if grants do not apply to
// it.
std::optional<GrantedSubject> SubjectOf(const google::protobuf::Message& request,
                                        access::Subject subject);

// Returns OK if the caller has no grants, or one that covers `subject`. Otherwise
// core::OutsideScope, even if `subject` does not exist.
absl::Status CheckScope(const core::LedgerReader& reader, const access::Caller& caller,
                        const GrantedSubject& subject);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_GRANTED_SUBJECT_H_
