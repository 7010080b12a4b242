#include "server/transport/grpc/converters/change_convert.h"

#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "accounting/event/status_macros.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/charge_convert.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/converters/session_convert.h"

namespace epsledger::transport {
namespace {

// Visits the body of one entry: fills in the change and returns true if this watcher sees it.
class ChangeOf {
 public:
  ChangeOf(core::LedgerReader& reader, const core::Ledger& ledger, const Watched& watched,
           const core::Entry& entry, v1::LedgerChange* change)
      : reader_(reader), ledger_(ledger), watched_(watched), entry_(entry), change_(*change) {}

  absl::StatusOr<bool> operator()(const core::BudgetCreated& body) { return Tell(body.spec.id); }
  absl::StatusOr<bool> operator()(const core::BudgetUpdated& body) { return Tell(body.budget_id); }
  absl::StatusOr<bool> operator()(const core::BudgetPhaseChanged& body) {
    return Tell(body.budget_id);
  }
  // Pending proposals are not part of the budget: a client that shows them must ask for them again.
  absl::StatusOr<bool> operator()(const core::ApprovalPolicySet& body) {
    return Tell(body.budget_id);
  }
  absl::StatusOr<bool> operator()(const core::ChangeProposed& body) { return Tell(body.budget_id); }
  absl::StatusOr<bool> operator()(const core::ProposalResolved& body) {
    return Tell(body.budget_id);
  }
  // A watcher of both budgets sees the old one, which names its successor.
  absl::StatusOr<bool> operator()(const core::BudgetSuperseded& body) {
    return Tell(body.budget_id) || Tell(body.successor.id);
  }

  absl::StatusOr<bool> operator()(const core::SessionCreated& body) {
    return TellSession(body.session_number);
  }
  absl::StatusOr<bool> operator()(const core::SessionClosed& body) {
    return TellSession(body.session_number);
  }
  absl::StatusOr<bool> operator()(const core::AuditRecorded& body) {
    return TellSession(body.session_number);
  }
  // What is said is no part of a budget or session: a client that shows it asks again.
  absl::StatusOr<bool> operator()(const core::Annotated& body) {
    return body.session_number == 0 ? Tell(body.budget_id) : TellSession(body.session_number);
  }
  absl::StatusOr<bool> operator()(const core::SignedOff& body) {
    return body.session_number == 0 ? Tell(body.budget_id) : TellSession(body.session_number);
  }
  absl::StatusOr<bool> operator()(const core::SessionRefused& body) {
    if (!watched_.session_id.empty() || !IsBelowWatched(body.spec.budget_id)) return false;
    v1::RefusedSession& refused = *change_.mutable_refused_session();
    refused.set_name(FormatSessionName({body.spec.budget_id, body.spec.id}));
    ToProto(body.refusal, refused.mutable_refusal());
    return true;
  }

  absl::StatusOr<bool> operator()(const core::AttemptOpened& body) {
    const core::SessionState* session = WatchedSession(body.session_number);
    if (session == nullptr) return false;
    v1::Attempt& attempt = *change_.mutable_attempt();
    attempt.set_name(FormatAttemptName({NameOf(*session), body.attempt}));
    attempt.set_number(body.attempt);
    attempt.set_client_description(body.client_description);
    ToProto(body.provenance, attempt.mutable_provenance());
    attempt.set_sequence(entry_.sequence);
    attempt.set_hash(entry_.hash.data(), entry_.hash.size());
    return true;
  }

  absl::StatusOr<bool> operator()(const core::EventPriced&) { return false; }
  absl::StatusOr<bool> operator()(const core::UnitsPriced&) { return false; }
  absl::StatusOr<bool> operator()(const core::ReferenceFixed& body) {
    return body.budget_id.empty() ? TellSession(body.session_number) : Tell(body.budget_id);
  }
  // Entries of the access ledger, which nobody watches.
  absl::StatusOr<bool> operator()(const core::TokenCreated&) { return false; }
  absl::StatusOr<bool> operator()(const core::LimitedTokenCreated&) { return false; }
  absl::StatusOr<bool> operator()(const core::LoginCreated&) { return false; }
  absl::StatusOr<bool> operator()(const core::TokenRevoked&) { return false; }
  absl::StatusOr<bool> operator()(const core::CallsDenied&) { return false; }
  absl::StatusOr<bool> operator()(const core::QuarantineBegun&) { return false; }
  absl::StatusOr<bool> operator()(const core::QuarantineLifted&) { return false; }
  absl::StatusOr<bool> operator()(const core::QuarantineLiftProposed&) { return false; }

  absl::StatusOr<bool> operator()(const core::ChargeDecided& body) {
    return TellCharge(body.session_number);
  }
  absl::StatusOr<bool> operator()(const core::ChargeRefused& body) {
    return TellCharge(body.session_number);
  }

  absl::StatusOr<bool> operator()(const core::LeaseGranted& body) {
    const absl::StatusOr<bool> told = TellLease(body, std::nullopt);
    if (told.ok() && *told) {
      ToProto(body.expire_time_micros, change_.mutable_lease()->mutable_expire_time());
    }
    return told;
  }
  absl::StatusOr<bool> operator()(const core::LeaseSettled& body) {
    return TellLease(body, body.used_count);
  }

 private:
  absl::StatusOr<bool> TellCharge(int64_t session_number) {
    const core::SessionState* session = WatchedSession(session_number);
    if (session == nullptr) return false;
    ASSIGN_OR_RETURN(const core::ChargeRecord record, ledger_.ToRecord(entry_));
    ToProto(NameOf(*session), record, change_.mutable_charge());
    return true;
  }

  static core::SessionName NameOf(const core::SessionState& session) {
    return {session.spec.budget_id, session.spec.id};
  }

  // A tree is at most kMaxBudgetDepth deep.
  bool IsBelowWatched(std::string_view budget_id) const {
    while (budget_id != watched_.budget_id) {
      if (budget_id.empty()) return false;
      budget_id = ledger_.FindBudget(budget_id)->spec.parent_id;
    }
    return true;
  }

  const core::SessionState* WatchedSession(int64_t number) const {
    const core::SessionState* session = ledger_.FindSession(number);
    const bool watched = watched_.session_id.empty()
                             ? IsBelowWatched(session->spec.budget_id)
                             : session->spec.budget_id == watched_.budget_id &&
                                   session->spec.id == watched_.session_id;
    return watched ? session : nullptr;
  }

  bool Tell(std::string_view budget_id) {
    if (!watched_.session_id.empty() || !IsBelowWatched(budget_id)) return false;
    ToProto(ledger_, *ledger_.FindBudget(budget_id), change_.mutable_budget());
    return true;
  }

  bool TellSession(int64_t number) {
    const core::SessionState* session = WatchedSession(number);
    if (session != nullptr) ToProto(*session, change_.mutable_session());
    return session != nullptr;
  }

  template <class Body>
  absl::StatusOr<bool> TellLease(const Body& body, std::optional<int64_t> used_count) {
    const core::SessionState* session = WatchedSession(body.session_number);
    if (session == nullptr) return false;
    ASSIGN_OR_RETURN(const std::optional<core::ChargeRecord> charge,
                     reader_.FindCharge(NameOf(*session), body.attempt, body.lease_id));
    if (!charge.has_value()) return absl::DataLossError("ledger: a lease without its charge");
    ToProto(NameOf(*session), *charge, used_count, change_.mutable_lease());
    return true;
  }

  core::LedgerReader& reader_;
  const core::Ledger& ledger_;
  const Watched& watched_;
  const core::Entry& entry_;
  v1::LedgerChange& change_;
};

}  // namespace

absl::StatusOr<std::optional<v1::LedgerChange>> ToChange(core::LedgerReader& reader,
                                                         const core::Ledger& ledger,
                                                         const Watched& watched,
                                                         const core::Entry& entry) {
  v1::LedgerChange change;
  ASSIGN_OR_RETURN(const bool told,
                   std::visit(ChangeOf(reader, ledger, watched, entry, &change), entry.body));
  if (!told) return std::nullopt;
  change.set_sequence(entry.sequence);
  ToProto(entry.time_micros, change.mutable_time());
  return change;
}

v1::LedgerChange Bookmark(int64_t sequence, int64_t now_micros) {
  v1::LedgerChange change;
  change.set_sequence(sequence);
  ToProto(now_micros, change.mutable_time());
  return change;
}

}  // namespace epsledger::transport
