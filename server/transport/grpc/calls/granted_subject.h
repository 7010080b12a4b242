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

// What a request reads, as grants see it.
struct GrantedSubject {
  // From "budgets/{budget}" and "budgets/{budget}/sessions/{session}...". Empty: no such name.
  std::string budget_id;
  std::string session_id;
  // All of the ledger that holds the budget.
  bool whole_ledger = false;
};

// The budget and session of a name, which need not be a good one otherwise.
GrantedSubject SubjectNamed(std::string_view name);

// What the request of a method with that subject reads; nothing where grants hold no part of it.
std::optional<GrantedSubject> SubjectOf(const google::protobuf::Message& request,
                                        access::Subject subject);

// OK if the caller has no grants, or one that holds `subject`. Otherwise core::OutsideScope, also
// where it does not exist.
absl::Status CheckScope(const core::LedgerReader& reader, const access::Caller& caller,
                        const GrantedSubject& subject);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_GRANTED_SUBJECT_H_
