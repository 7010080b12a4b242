#include "server/core/describe.h"

#include <string_view>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/printable.h"
#include "server/core/policy.h"

namespace epsledger::core {
namespace {

using accounting::Quoted;

std::string Because(std::string_view reason) {
  return reason.empty() ? "" : absl::StrCat(": ", Quoted(reason));
}

std::string RefusalText(const Refusal& refusal) {
  std::string text = Name(refusal.reason);
  if (!refusal.limiting_session_id.empty()) {
    absl::StrAppend(&text, " by the session ", refusal.limiting_budget_id, "/",
                    refusal.limiting_session_id);
  } else if (!refusal.limiting_budget_id.empty()) {
    absl::StrAppend(&text, " by ", refusal.limiting_budget_id);
  }
  if (refusal.reason == RefusalReason::kBudgetExhausted) {
    absl::StrAppendFormat(&text, ", %d would fit", refusal.steps_that_fit);
  }
  if (!refusal.remedy.empty()) absl::StrAppend(&text, Because(refusal.remedy));
  return text;
}

std::string ProvenanceText(const Provenance& provenance) {
  std::string text;
  if (provenance.sampler.has_value()) {
    absl::StrAppend(&text, ", says it samples ", Name(*provenance.sampler));
  }
  if (provenance.normalizer.has_value()) {
    absl::StrAppend(&text, ", says it divides by ", Name(*provenance.normalizer));
  }
  if (!provenance.library.empty()) {
    absl::StrAppend(&text, ", by ", Quoted(provenance.library), " ",
                    Quoted(provenance.library_version));
  }
  return text;
}

class Describer {
 public:
  explicit Describer(const Ledger& ledger) : ledger_(ledger) {}

  std::string operator()(const BudgetCreated& body) const {
    return absl::StrCat(
        "budget ", body.spec.id, body.spec.parent_id.empty() ? "" : " below " + body.spec.parent_id,
        " created: ", Describe(body.spec.cap), ", ",
        std::string(accounting::Name(body.spec.relation)), ", of ", Quoted(body.spec.privacy_unit));
  }
  std::string operator()(const SessionCreated& body) const {
    std::string text =
        absl::StrCat("session ", body.spec.budget_id, "/", body.spec.id, " created, ",
                     body.spec.mode == SessionMode::kDeclared ? "DECLARED" : "ADAPTIVE");
    if (body.plan_charge.has_value()) {
      absl::StrAppendFormat(&text, ": a plan of %d events, epsilon %.6g at delta %g",
                            body.spec.plan.size(), body.plan_charge->epsilon, body.spec.plan_delta);
    } else if (body.spec.own_cap.has_value()) {
      absl::StrAppend(&text, ": ", Describe(*body.spec.own_cap));
    }
    if (body.spec.claim.has_value()) {
      absl::StrAppend(&text, ", ", LabelAndFlag(body.spec.claim->status));
    }
    return text;
  }
  std::string operator()(const SessionRefused& body) const {
    return absl::StrCat("session ", body.spec.budget_id, "/", body.spec.id,
                        " refused: ", RefusalText(body.refusal));
  }
  std::string operator()(const ReferenceFixed& body) const {
    return absl::StrFormat(
        "%s counts units of %s: %d fit",
        body.budget_id.empty() ? Session(body.session_number) : "budget " + body.budget_id,
        accounting::Describe(*body.event), body.units);
  }
  std::string operator()(const UnitsPriced& body) const {
    return absl::StrFormat(
        "%s event %d priced: %d of them together cost %d units while %d are left",
        Session(body.session_number), body.event_index, body.count, body.units, body.level);
  }
  std::string operator()(const AttemptOpened& body) const {
    return absl::StrCat(Session(body.session_number), " attempt ", body.attempt, " opened",
                        body.client_description.empty() ? "" : " by ",
                        body.client_description.empty() ? "" : Quoted(body.client_description),
                        ProvenanceText(body.provenance));
  }
  std::string operator()(const EventPriced& body) const {
    return absl::StrCat(Session(body.session_number), " priced ",
                        accounting::Describe(*body.event));
  }
  std::string operator()(const ChargeDecided& body) const {
    const bool accepted = body.decision == ChargeDecision::kAccepted;
    return absl::StrCat(
        Attempt(body.session_number, body.attempt), accepted ? " charged " : " was refused ",
        body.count, " x ", Event(body.session_number, body.event_index), " as ",
        Quoted(body.charge_id), body.refusal.has_value() ? ": " + RefusalText(*body.refusal) : "");
  }
  std::string operator()(const ChargeRefused& body) const {
    return absl::StrCat(Attempt(body.session_number, body.attempt), " was refused ", body.count,
                        " x ", body.event.words, " as ", Quoted(body.charge_id), ": ",
                        RefusalText(body.refusal));
  }
  std::string operator()(const BudgetUpdated& body) const {
    return absl::StrCat("budget ", body.budget_id, " is called ",
                        Quoted(body.description.display_name), ", ", body.description.labels.size(),
                        " labels, ", body.description.alert_thresholds.size(), " alert thresholds");
  }
  std::string operator()(const BudgetPhaseChanged& body) const {
    return absl::StrCat("budget ", body.budget_id, " is ", Name(body.phase), Because(body.reason));
  }
  std::string operator()(const BudgetSuperseded& body) const {
    return absl::StrCat("budget ", body.budget_id, " superseded by ", body.successor.id, ": ",
                        Describe(body.successor.cap), Because(body.reason));
  }
  std::string operator()(const ApprovalPolicySet& body) const {
    return absl::StrCat("budget ", body.budget_id, " is to ",
                        Describe(ProposedChange(ProposedPolicy{body.guarded})));
  }
  std::string operator()(const ChangeProposed& body) const {
    return absl::StrCat("proposal ", body.proposal_id, " for budget ", body.budget_id, ": ",
                        Describe(body.change), Because(body.reason));
  }
  std::string operator()(const ProposalResolved& body) const {
    return absl::StrCat("proposal ", body.proposal_id, " for budget ", body.budget_id,
                        body.approved ? " approved by " : " rejected by ",
                        Quoted(body.resolver.principal), Because(body.reason));
  }
  std::string operator()(const QuarantineLiftProposed& body) const {
    return absl::StrCat("budgets/", body.root_id, " is to leave quarantine, says ",
                        Quoted(body.proposer.principal), Because(body.reason));
  }
  std::string operator()(const SessionClosed& body) const {
    return absl::StrCat(Session(body.session_number), " closed", Because(body.reason));
  }
  std::string operator()(const AuditRecorded& body) const {
    return absl::StrCat(Session(body.session_number), " audited: ", Describe(body.audit),
                        Because(body.audit.source));
  }
  std::string operator()(const Annotated& body) const {
    return absl::StrCat(Resource(body.budget_id, body.session_number), " annotated, ",
                        Name(body.topic),
                        body.text.empty() ? std::string(" withdrawn") : Because(body.text));
  }
  std::string operator()(const SignedOff& body) const {
    return absl::StrCat(Resource(body.budget_id, body.session_number),
                        " signed off: ", Describe(body.sign_off), Because(body.sign_off.comment));
  }
  std::string operator()(const LeaseGranted& body) const {
    return absl::StrCat(Attempt(body.session_number, body.attempt), " holds ",
                        Quoted(body.lease_id), " as a lease");
  }
  std::string operator()(const LeaseSettled& body) const {
    return absl::StrCat(Attempt(body.session_number, body.attempt), " settled the lease ",
                        Quoted(body.lease_id), ", ", body.used_count, " used");
  }

  std::string operator()(const TokenCreated& body) const {
    return absl::StrCat("token ", body.spec.id, " created for tenant ", Quoted(body.spec.tenant));
  }
  std::string operator()(const LimitedTokenCreated& body) const {
    std::string text = absl::StrCat("token ", body.spec.id, " created for tenant ",
                                    Quoted(body.spec.tenant), ", limited to ");
    for (size_t i = 0; i < body.grants.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ", NameOf(body.grants[i]));
    }
    return text;
  }
  std::string operator()(const LoginCreated& body) const {
    return absl::StrCat("login ", body.spec.id, " of token ", body.login_of);
  }
  std::string operator()(const TokenRevoked& body) const {
    return absl::StrCat("token ", body.token_id, " revoked");
  }
  std::string operator()(const QuarantineBegun& body) const {
    return absl::StrCat("budgets/", body.lost.root_id, " in quarantine: entry ", body.lost.sequence,
                        " was acknowledged and is not in it");
  }
  std::string operator()(const QuarantineLifted& body) const {
    return absl::StrCat("budgets/", body.root_id, " out of quarantine by ", Quoted(body.principal),
                        Because(body.reason));
  }
  std::string operator()(const CallsDenied& body) const {
    return absl::StrCat(body.denial.count, " calls of ", body.denial.method, " by ",
                        Quoted(body.denial.principal), " denied: ", body.denial.reason);
  }

 private:
  std::string Session(int64_t number) const {
    const SessionState* session = ledger_.FindSession(number);
    if (session == nullptr) return absl::StrCat("session ", number);
    return absl::StrCat(session->spec.budget_id, "/", session->spec.id);
  }
  // Of a session, or of a budget if the number is 0.
  std::string Resource(const std::string& budget_id, int64_t session_number) const {
    return session_number == 0 ? absl::StrCat("budget ", budget_id) : Session(session_number);
  }
  std::string Attempt(int64_t session_number, int64_t attempt) const {
    return absl::StrCat(Session(session_number), " attempt ", attempt);
  }
  std::string Event(int64_t session_number, int64_t index) const {
    const SessionState* session = ledger_.FindSession(session_number);
    if (session == nullptr || index < 0 || index >= static_cast<int64_t>(session->events.size())) {
      return absl::StrCat("event ", index);
    }
    return accounting::Describe(*session->events[index].event);
  }

  const Ledger& ledger_;
};

}  // namespace

std::string Describe(const EntryBody& body, const Ledger& ledger) {
  return std::visit(Describer(ledger), body);
}

std::string Describe(const accounting::MechanismEvent& event, size_t encoded_bytes,
                     size_t max_bytes) {
  constexpr size_t kMaxDescribed = 2'000;
  std::string words =
      encoded_bytes <= kMaxDescribed
          ? accounting::Describe(event)
          : std::visit(
                [encoded_bytes](const auto& kind) {
                  return absl::StrFormat("%s of %d bytes", accounting::JsonName(kind.kName),
                                         encoded_bytes);
                },
                event.kind());
  if (words.size() <= max_bytes) return words;
  size_t end = max_bytes - 3;
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) --end;  // UTF-8
  return words.substr(0, end) + "...";
}

const char* Name(BudgetPhase phase) {
  switch (phase) {
    case BudgetPhase::kActive:
      return "ACTIVE";
    case BudgetPhase::kFrozen:
      return "FROZEN";
    case BudgetPhase::kClosed:
      return "CLOSED";
    case BudgetPhase::kSuperseded:
      return "SUPERSEDED";
  }
  return "UNKNOWN_PHASE";
}

}  // namespace epsledger::core
