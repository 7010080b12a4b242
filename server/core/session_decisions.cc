// Deciding on sessions and their attempts.

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "server/core/plan.h"

namespace epsledger::core {
namespace {

absl::Status NoSuchSession(const SessionName& name) {
  return absl::NotFoundError(absl::StrFormat("budgets/%s/sessions/%s: there is no such session",
                                             name.budget_id, name.session_id));
}

absl::Status CheckDistinct(const std::vector<accounting::CountedEvent>& plan) {
  std::map<std::string, size_t> planned;
  for (size_t i = 0; i < plan.size(); ++i) {
    const auto [it, is_new] = planned.emplace(EncodeEvent(*plan[i].event), i);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "session.plan.events[%d].event: got the event of events[%d] again, want distinct ones", i,
          it->second));
    }
  }
  return absl::OkStatus();
}

// One audit, one encoding.
std::string Encoding(const AuditRecord& audit) {
  return EncodeContent(0, 0, AuditRecorded{.session_number = 0, .audit = audit});
}

}  // namespace

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const CreateSession& command) const {
  const SessionSpec& spec = command.spec;
  const SessionName name{.budget_id = spec.budget_id, .session_id = spec.id};
  const BudgetState* budget = FindBudget(spec.budget_id);
  if (budget == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("budgets/%s: there is no such budget", spec.budget_id));
  }
  if (const SessionState* existing = FindSession(name)) {
    const std::string difference = FirstDifference(existing->spec, spec);
    if (difference.empty()) {
      return Decision{SessionOutcome{.session = name, .created = false, .refusal = {}}, {}};
    }
    return absl::AlreadyExistsError(absl::StrFormat("budgets/%s/sessions/%s exists with another %s",
                                                    spec.budget_id, spec.id, difference));
  }
  if (budget->spec.relation != spec.relation) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "session.neighboringRelation: got %s, want %s as in budgets/%s",
        accounting::Name(spec.relation), accounting::Name(budget->spec.relation), spec.budget_id));
  }
  const bool declared = spec.mode == SessionMode::kDeclared;
  if (!declared && std::holds_alternative<TradeOffCurveCap>(budget->spec.cap)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "session.mode: got ADAPTIVE, want DECLARED: the cap of budgets/%s is a trade-off curve, "
        "which no filter keeps",
        spec.budget_id));
  }
  if (declared && IsUnproven(spec.claim)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "session.mode: got DECLARED, want ADAPTIVE: the session is %s, and what is not proven "
        "composes to nothing",
        LabelAndFlag(spec.claim->status)));
  }
  if (spec.own_cap.has_value() && std::holds_alternative<NoGuaranteeCap>(*spec.own_cap)) {
    return absl::InvalidArgumentError(
        "session.ownCap: got noGuarantee, want noOwnCap: only a budget can say that it promises "
        "nothing");
  }
  const auto refuse = [&](Refusal refusal) {
    return Decision{SessionOutcome{.session = name, .created = false, .refusal = refusal},
                    {SessionRefused{.spec = spec, .refusal = refusal}}};
  };
  if (std::optional<Refusal> blocked = BlockedBy(*budget)) return refuse(*std::move(blocked));

  SessionCreated created{.spec = spec,
                         .session_number = static_cast<int64_t>(sessions_.size()) + 1,
                         .own_filter = {},
                         .plan_charge = {}};
  Decision decision{SessionOutcome{.session = name, .created = true, .refusal = {}}, {}};
  if (!declared) {
    if (spec.own_cap.has_value()) {
      if (std::holds_alternative<TradeOffCurveCap>(*spec.own_cap)) {
        return absl::InvalidArgumentError(
            "session.ownCap: got tradeOffCurve, want a currency with a filter: an ADAPTIVE session "
            "cannot be held to a trade-off curve");
      }
      absl::StatusOr<accounting::Filter> filter = FilterFor(*spec.own_cap, "session.ownCap");
      if (!filter.ok()) return filter.status();
      created.own_filter = CellFilter::From(*filter);
    }
    decision.entries.push_back(std::move(created));
    return decision;
  }

  if (absl::Status status = CheckDistinct(spec.plan); !status.ok()) return status;
  std::optional<PlanComposition> composed_now;
  PlanComposition& plan =
      command.composition != nullptr ? *command.composition : composed_now.emplace(spec);
  absl::StatusOr<accounting::Guarantee> composed = plan.At(spec.plan_delta);
  if (!composed.ok()) return composed.status();
  if (absl::Status status = CheckOwnCap(spec, plan); !status.ok()) return status;
  PlanCharge charge{.epsilon = *composed->upper, .theorem = composed->theorem, .costs = {}};
  if (std::isinf(charge.epsilon) && std::holds_alternative<NoGuaranteeCap>(budget->spec.cap)) {
    return absl::FailedPreconditionError(
        "session.plan: no finite epsilon is proven of it: charge it in an ADAPTIVE session");
  }
  for (const Gate& gate : GatesOf(PathToRoot(*budget))) {
    std::vector<Cost> costs = PlanCosts(
        spec, plan, charge.epsilon, FindBudget(gate.budget_id)->spec.cap, gate.balance.filter());
    if (!gate.Fits(costs)) return refuse(RefusalBy(gate, costs));
    charge.costs.push_back(std::move(costs));
  }
  created.plan_charge = std::move(charge);
  decision.entries.push_back(std::move(created));
  return decision;
}

std::vector<double> Ledger::PlanDeltas(const SessionSpec& spec) const {
  const BudgetState* budget = FindBudget(spec.budget_id);
  const SessionName name{.budget_id = spec.budget_id, .session_id = spec.id};
  if (spec.mode != SessionMode::kDeclared || budget == nullptr || FindSession(name) != nullptr) {
    return {};
  }
  std::vector<double> deltas = {spec.plan_delta};
  const auto add = [&deltas](const Cap& cap) {
    for (const double delta : DeltasOf(cap)) deltas.push_back(delta);
  };
  if (spec.own_cap.has_value()) add(*spec.own_cap);
  for (const BudgetState* b : PathToRoot(*budget)) {
    if (std::holds_alternative<TradeOffCurveCap>(b->spec.cap)) add(b->spec.cap);
  }
  return deltas;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const CloseSession& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  Decision decision{SessionOutcome{.session = command.session, .created = false, .refusal = {}},
                    {}};
  if (!session->closed) {
    decision.entries.push_back(
        SessionClosed{.session_number = session->number, .reason = command.reason});
  }
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const RecordAudit& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  Decision decision{SessionOutcome{.session = command.session, .created = false, .refusal = {}},
                    {}};
  AuditRecorded recorded{.session_number = session->number, .audit = command.audit};
  const bool is_repetition =
      !session->audits.empty() && Encoding(session->audits.back().audit) == Encoding(command.audit);
  if (!is_repetition) decision.entries.push_back(std::move(recorded));
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const OpenAttempt& command) const {
  const SessionState* session = FindSession(command.session);
  if (session == nullptr) return NoSuchSession(command.session);
  if (session->closed) {
    return absl::FailedPreconditionError(
        absl::StrFormat("budgets/%s/sessions/%s is closed for good (%s)", command.session.budget_id,
                        command.session.session_id, session->close_reason));
  }
  for (const BudgetState* budget : PathToRoot(*FindBudget(session->spec.budget_id))) {
    if (!budget->spec.policy.has_value()) continue;
    if (const auto missing = MissingProvenance(*budget->spec.policy, command.provenance)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s (the policy of budgets/%s)", *missing, budget->spec.id));
    }
  }
  const int64_t attempt = session->current_attempt + 1;
  return Decision{AttemptOutcome{.attempt = attempt, .head = {}},
                  {AttemptOpened{.session_number = session->number,
                                 .attempt = attempt,
                                 .client_description = command.client_description,
                                 .provenance = command.provenance}}};
}

}  // namespace epsledger::core
